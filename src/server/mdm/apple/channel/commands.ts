// Hands commands to Apple devices, and stores what they answer.
import { BadPlist, dictsIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { type Context, within } from "../../../core/context.ts";
import { nextOperation, postponeOperation } from "../../../operations/device-queue.ts";
import type { Operation } from "../../../operations/kind.ts";
import { operationLock, storeAnswer } from "../../../operations/queue.ts";
import { commandOf, postponedOf, resumePostponed, setAnswer } from "../../commands/rows.ts";
import { APPLE_LANE, type AppleAnswer, NotMade } from "../commands/kind.ts";
import { applePayload } from "../commands/payload.ts";
import type { AppleAnswered } from "./listeners.ts";

/** Stores what the device answered, and returns the next command for it; null: there is none. */
export async function exchange(ctx: Context, hostId: number, message: PlistDict, body: Buffer): Promise<string | null> {
  const status = stringIn(message, "Status");
  if (status === null) throw new BadPlist("the property list has no Status");
  if (status !== "Idle") await readAnswer(ctx, await keepAnswer(ctx, hostId, { status, message, body }));
  // What the device has postponed comes again when it connects by itself, which begins with Idle.
  const isIdle = status === "Idle";
  const except = isIdle ? [] : await postponedOf(ctx.store, hostId);
  const { appleCommandsMadeLate: late } = ctx.extensions;
  for (;;) {
    const next = await nextOperation(ctx, hostId, APPLE_LANE, { except });
    if (!next) return null;
    if (isIdle) await resumePostponed(ctx.store, hostId);
    const command = await ctx.store.mdmCommands.get(next.operation.id);
    // The device has just enrolled again: what waited was dropped.
    if (!command) return null;
    const { operation, content } = next;
    const make = Object.hasOwn(late, operation.kind) ? late[operation.kind] : undefined;
    if (!make) return applePayload(command.command_uuid, content);
    try {
      return writePlist({ CommandUUID: command.command_uuid, Command: await make(ctx, operation, content) });
    } catch (error) {
      if (!(error instanceof NotMade)) throw error;
      await endUnmade(ctx, operation, command.command_uuid, error.message);
    }
  }
}

/** The device never gets it: shown like a command that it has refused. */
async function endUnmade(ctx: Context, { id, host_id }: Operation, CommandUUID: string, reason: string): Promise<void> {
  const answer = { Status: "Error", CommandUUID, ErrorChain: [{ LocalizedDescription: reason }] };
  await keepAnswer(ctx, host_id, { status: answer.Status, message: answer, body: Buffer.from(writePlist(answer)) });
  // Whatever the answer was kept for: the same operation is not taken again.
  const operation = await ctx.store.operations.get(id);
  if (operation?.state === "sent") throw new Error(`the operation ${id} has not ended`);
}

interface Answered {
  readonly status: string;
  readonly message: PlistDict;
  readonly body: Buffer;
}

type Kept = AppleAnswered & { readonly kind: string };

/** Null if nothing is to be read of it. */
async function keepAnswer(ctx: Context, hostId: number, { status, message, body }: Answered): Promise<Kept | null> {
  const uuid = stringIn(message, "CommandUUID") ?? "";
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const command = await commandOf(store, hostId, uuid);
    if (!command) {
      ctx.log.warn({ host_id: hostId, command_uuid: uuid, status }, "a device answered a command that it did not get");
      return null;
    }
    // An answer may arrive twice: only the first one counts.
    if (command.command_status !== "pending") return null;
    const command_status = status === "NotNow" ? "pending" : status === "Acknowledged" ? "ran" : "failed";
    await setAnswer(inside, command.id, { status, command_status, result: body.toString("base64") });
    const answer: AppleAnswer = { status, detail: detailOf(message) };
    if (status === "NotNow") {
      await postponeOperation(inside, hostId, command.id);
      return null;
    }
    const operation = (await store.operations.get(command.id))!;
    await storeAnswer(inside, operation, answer);
    for (const { answered } of inside.extensions.appleDevices) await answered?.(inside, hostId);
    const isDone = command_status === "ran";
    return { kind: operation.kind, hostId, requestType: command.request_type, isDone, message };
  }, operationLock(hostId));
}

async function readAnswer(ctx: Context, kept: Kept | null): Promise<void> {
  const { appleReaders } = ctx.extensions;
  if (kept && Object.hasOwn(appleReaders, kept.kind)) await appleReaders[kept.kind]!(ctx, kept);
}

function detailOf(message: PlistDict): string {
  const errors = dictsIn(message, "ErrorChain").map(
    (error) => stringIn(error, "USEnglishDescription") ?? stringIn(error, "LocalizedDescription") ?? "",
  );
  return errors
    .filter((text) => text !== "")
    .join("; ")
    .slice(0, 1_000);
}
