// Passes commands to the vendor, in their order. One that was passed on just before the server died is passed on again:
// devices do what they are asked twice at most.

import { postponeOperation } from "../../../hosts/operations/device-queue.ts";
import type { Operation } from "../../../hosts/operations/kind.ts";
import { openOperationRows, operationLock, sendContent } from "../../../hosts/operations/queue.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, type Predicate } from "../../../platform/store/query.ts";
import type { AndroidDeviceRow } from "../devices/enroll.ts";
import { ANDROID_LANE } from "../lane.ts";
import { androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import { type Sending, sendDue, senderOf, sentAll } from "../sending.ts";
import { answerCommand } from "./answers.ts";
import { type AndroidAnswer, DELETE_DEVICE } from "./kind.ts";
import { endDevice } from "./leave.ts";
import { commandFor, typeOf } from "./wire.ts";

const commandSending: Sending = {
  what: "a command",
  channel: channels.androidCommands,
  rows: (store) => store.androidCommandQueues,
  write: (store, change) => store.androidCommandQueues.update(change),
  send,
};

async function send(services: Services, hostId: number, claimed: Predicate, signal: AbortSignal): Promise<void> {
  const { store } = services;
  const ctx = serviceContext(services);
  const row = await store.androidCommandQueues.first({ where: claimed });
  if (!row) return;
  const device = await store.androidDevices.first({ where: eq("host_id", hostId) });
  for (let next = device && (await nextUnsent(ctx, hostId)); next; next = await nextUnsent(ctx, hostId)) {
    if (signal.aborted) return;
    await pass(ctx, device!, next);
  }
  await store.androidCommandQueues.update({ where: and(claimed, eq("wanted", row.wanted)), set: sentAll });
}

interface Unsent {
  readonly operation: Operation;
  readonly content: string;
}

/** The first command that the vendor has not accepted yet. It counts as sent from then on, and cannot be cancelled. */
const nextUnsent = (ctx: Context, hostId: number): Promise<Unsent | null> =>
  ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const open = await openOperationRows(store, hostId, ANDROID_LANE);
    const accepted = new Set((await store.androidCommands.getMany(open.map(({ id }) => id))).map(({ id }) => id));
    const operation = open.find(({ id }) => !accepted.has(id));
    return operation ? { operation, content: (await sendContent(inside, operation)).content } : null;
  }, operationLock(hostId));

/** Throws an `AndroidError` if it has to be tried again. */
async function pass(ctx: Context, device: AndroidDeviceRow, { operation, content }: Unsent): Promise<void> {
  const isDelete = typeOf(content) === DELETE_DEVICE;
  const end = (isDone: boolean, detail: string) => answered(ctx, operation, { isDone, detail });
  try {
    const client = androidClient(ctx);
    if (!isDelete) return await accepted(ctx, operation, await client.issueCommand(device.name, commandFor(content)));
    await client.deleteDevice(device.name);
  } catch (error) {
    if (!(error instanceof AndroidError)) throw error;
    if (error.problem === "refused") return end(false, error.message);
    if (error.problem !== "gone") {
      // Only without a reply it is unknown whether the vendor has accepted it.
      if (error.problem !== "unreachable") await postponeOperation(ctx, operation.host_id, operation.id);
      throw error;
    }
  }
  if (isDelete) await end(true, "");
  await endDevice(ctx, device);
}

const accepted = (ctx: Context, { id, host_id }: Operation, name: string): Promise<void> =>
  ctx.store.tx(async (store) => {
    // The host may have been deleted.
    if ((await store.operations.get(id)) === null) return;
    await store.androidCommands.upsert([{ id, name }], { on: ["id"], returning: [] });
  }, operationLock(host_id));

const answered = (ctx: Context, { id, host_id }: Operation, answer: AndroidAnswer): Promise<void> =>
  ctx.store.tx(async (store) => {
    const operation = await store.operations.get(id);
    const raw = answer.isDone ? {} : { error: { message: answer.detail } };
    if (operation) await answerCommand(within(ctx, store), operation, answer, raw);
  }, operationLock(host_id));

export const androidCommandSender = senderOf("commands of Android devices", commandSending);

/** Sends again what has failed. */
export const androidCommandJob: Job = {
  name: "android_commands",
  every: minutes(1),
  run: (services, signal) => sendDue(services, commandSending, signal),
};
