// What became of commands, as the vendor reports it (an `Operation` of the Android Management API).

import { z } from "zod";
import { printable } from "../../../../text/printable.ts";
import type { Operation } from "../../../hosts/operations/kind.ts";
import { openOperationRows, operationLock, storeAnswer } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { badRequest, unavailable } from "../../../platform/core/errors.ts";
import { limit } from "../../../platform/core/limits.ts";
import { eq } from "../../../platform/store/query.ts";
import { dropSealed, setAnswer } from "../../commands/rows.ts";
import { markSeen } from "../devices/ingest.ts";
import { enterpriseRow } from "../enterprise/enterprise.ts";
import { ANDROID_LANE } from "../lane.ts";
import type { AndroidAnswer } from "./kind.ts";
import { masked } from "./wire.ts";

const text = z.string().max(4096).catch("");

export const VendorOperation = z.object({
  name: z
    .string()
    .max(1024)
    .regex(/^enterprises\/[^/]+\/devices\/[^/]+\/operations\/[^/]+$/),
  done: z.boolean().catch(false).default(false),
  error: z
    .object({ code: z.int().catch(0).default(0), message: text.default("") })
    .nullish()
    .catch(null),
  metadata: z
    .looseObject({ errorCode: text.default("") })
    .nullish()
    .catch(null),
});
export type VendorOperation = z.output<typeof VendorOperation>;

/** A message of the type COMMAND. */
export async function takeCommandMessage(ctx: Context, data: unknown): Promise<void> {
  const operation = VendorOperation.safeParse(data);
  if (!operation.success) throw badRequest("the data is not an operation of the Android Management API", "data");
  await takeVendorOperation(ctx, operation.data, data);
}

/** `raw`: the operation as the vendor has sent it. */
export async function takeVendorOperation(ctx: Context, operation: VendorOperation, raw: unknown): Promise<void> {
  const enterprise = await enterpriseRow(ctx.store);
  const deviceName = operation.name.slice(0, operation.name.indexOf("/operations/"));
  if (!enterprise || !deviceName.startsWith(`${enterprise.name}/devices/`)) return;
  const device = await ctx.store.androidDevices.first({ where: eq("name", deviceName) });
  if (!device) return;
  await markSeen(ctx, device.host_id);
  if (!operation.done) return;
  const ownership = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const command = await store.androidCommands.first({ where: eq("name", operation.name) });
    const row = command && (await store.operations.get(command.id));
    if (row?.host_id !== device.host_id) return (await isBeingSent(inside, device.host_id)) ? "maybe" : "no";
    await answerCommand(inside, row, answerIn(operation), raw);
    return "yes";
  }, operationLock(device.host_id));
  // The device was faster than the reply to the request that has passed on the command: the message is sent again.
  if (ownership === "maybe") throw unavailable("a command of this device is being sent");
  if (ownership === "no")
    ctx.log.warn({ operation: operation.name }, "an unknown command of an Android device was answered");
}

async function isBeingSent({ store }: Context, hostId: number): Promise<boolean> {
  const sent = (await openOperationRows(store, hostId, ANDROID_LANE)).filter(({ state }) => state === "sent");
  const accepted = await store.androidCommands.getMany(sent.map(({ id }) => id));
  return accepted.length < sent.length;
}

function answerIn({ error, metadata }: VendorOperation): AndroidAnswer {
  const code = metadata?.errorCode ?? "";
  if (!error && (code === "" || code === "COMMAND_ERROR_CODE_UNSPECIFIED")) return { isDone: true, detail: "" };
  const reasons = [code, error?.message ?? "", error?.message || !error ? "" : `error ${error.code}`];
  return { isDone: false, detail: printable(reasons.filter(Boolean).join(": ")) || "no reason was given" };
}

export const androidResult = limit({
  what: "answer of an Android device to a command",
  max: 64 * 1024,
  unit: "characters",
  beyond: "The answer is stored without its content.",
});

function resultIn(raw: unknown): string {
  const shown = JSON.stringify(masked(raw).value);
  return Buffer.from(shown.length > androidResult.max ? "{}" : shown).toString("base64");
}

/**
 * Stores what became of a command, in the caller's transaction, under the lock of the host's operations. `raw`: as the
 * vendor has reported it.
 */
export async function answerCommand(
  inside: Context,
  operation: Operation,
  answer: AndroidAnswer,
  raw: unknown,
): Promise<void> {
  const command = await inside.store.mdmCommands.get(operation.id);
  // The answer may arrive twice: only the first one counts.
  if (command?.command_status !== "pending") return;
  const shown = answer.isDone
    ? ({ status: "Acknowledged", command_status: "ran" } as const)
    : ({ status: "Error", command_status: "failed" } as const);
  await setAnswer(inside, operation.id, { ...shown, result: resultIn(raw) });
  await dropSealed(inside, operation.id);
  await storeAnswer(inside, operation, answer);
}

/** The vendor does not know the command any more: what became of it is lost. */
export const answerLost = (ctx: Context, hostId: number, id: number): Promise<void> =>
  ctx.store.tx(async (store) => {
    const operation = await store.operations.get(id);
    const detail = "the vendor no longer knows the outcome of the command";
    if (operation)
      await answerCommand(within(ctx, store), operation, { isDone: false, detail }, { error: { message: detail } });
  }, operationLock(hostId));
