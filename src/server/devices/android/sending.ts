// What is to be sent to the vendor for hosts. Each host's row is leased, so that two servers never send for the same
// host at a time, and what fails is repeated later.
import { setImmediate } from "node:timers/promises";
import { isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import { heldBy, isFree, newLease, noLease, whileHeld } from "../../platform/core/concurrency/lease.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, lte, or, type Predicate } from "../../platform/store/query.ts";
import { accountOf } from "./management/account.ts";
import { AndroidError } from "./management/problem.ts";

type Rows = Pick<ServerTx["androidCommandQueues"], "list" | "first">;
type Change = Parameters<ServerTx["androidCommandQueues"]["update"]>[0];

export interface Sending {
  /** For logs. */
  readonly what: string;
  readonly channel: string;
  rows(store: ServerTx): Rows;
  write(store: ServerTx, change: Change): Promise<number>;
  /**
   * Sends what is due for the host. `claimed` is the condition under which this server may write the host's row; the row
   * stays due until `sent`. After an `AndroidError` it is repeated later.
   */
  send(services: Services, hostId: number, claimed: Predicate, signal: AbortSignal): Promise<void>;
}

const BATCH_SIZE = 50;
const FIRST_RETRY = seconds(10);
const LAST_RETRY = minutes(30);

const isDue = ({ clock }: Pick<Services, "clock">): Predicate =>
  and(eq("due", true), or(isNull("retry_at"), lte("retry_at", clock.iso())), isFree({ clock }));

/** Sends everything that is due. */
export async function sendDue(services: Services, sending: Sending, signal: AbortSignal): Promise<void> {
  if (accountOf(services) === null) return;
  for (;;) {
    const rows = await sending.rows(services.store).list({ where: isDue(services), limit: BATCH_SIZE });
    for (const { id } of rows) {
      if (signal.aborted) return;
      await sendOne(services, sending, id, signal);
      await setImmediate();
    }
    if (rows.length === 0) return;
  }
}

async function sendOne(services: Services, sending: Sending, id: number, stop: AbortSignal): Promise<void> {
  const write = (change: Change) => sending.write(services.store, change);
  const lease = newLease(services);
  // Another server may have been faster.
  if ((await write({ where: and(eq("id", id), isDue(services)), set: lease })) === 0) return;
  const claimed = and(eq("id", id), heldBy(lease));
  const renew = (values: Pick<typeof lease, "runner_until">) => write({ where: claimed, set: values });
  try {
    await whileHeld(services, renew, stop, (signal) => sending.send(services, id, claimed, signal));
  } catch (error) {
    if (!(error instanceof AndroidError)) throw error;
    await later(services, sending, claimed, error);
  } finally {
    await write({ where: claimed, set: noLease });
  }
}

/** Everything was sent. Written only if `wanted` is still what it was: what was asked for in the meantime is sent next. */
export const sentAll = { due: false, failures: 0, retry_at: null } as const;

async function later(services: Services, sending: Sending, claimed: Predicate, error: AndroidError): Promise<void> {
  const row = await sending.rows(services.store).first({ where: claimed });
  if (!row) return;
  const wait = Math.max(error.retryAfter ?? 0, Math.min(LAST_RETRY, FIRST_RETRY * 2 ** Math.min(row.failures, 20)));
  services.log.warn(
    { host_id: row.id, reason: error.message },
    `${sending.what} of an Android device could not be sent; trying again`,
  );
  const set = { retry_at: isoAt(services.clock.now() + wait), failures: row.failures + 1 };
  await sending.write(services.store, { where: claimed, set });
}

export const senderOf = (name: string, sending: Sending) =>
  startedPart(name, async (services) => {
    const stopping = new AbortController();
    const task = await startTriggeredTask(
      services,
      {
        channel: sending.channel,
        least: 50,
        more: 200,
        failure: `${sending.what} could not be sent; trying again`,
      },
      () => sendDue(services, sending, stopping.signal),
    );
    return {
      ...task,
      async stop() {
        stopping.abort();
        await task.stop();
      },
    };
  });
