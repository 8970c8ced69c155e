import { days, isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, eq, lt, oneOf, type Predicate } from "../store/query.ts";

const DELIVERED_FOR = days(7);
const DEAD_FOR = days(30);

interface OutboxBounds {
  /** Maximum rows kept per state. If more are pending, the oldest are given up. */
  readonly delivered: number;
  readonly dead: number;
  readonly pending: number;
}
const bounds: OutboxBounds = { delivered: 100_000, dead: 100_000, pending: 1_000_000 };

const BATCH_SIZE = 2_000;
const byId = [{ column: "id", direction: "asc" }] as const;

export async function cleanOutbox(services: Services, signal: AbortSignal, most = bounds): Promise<void> {
  const { store, clock, log } = services;
  const now = clock.now();
  const overdue = await giveUpOldest(services, most.pending, signal);
  if (overdue > 0) log.error({ count: overdue }, "the outbox is full: its oldest deliveries were given up");
  await remove(and(eq("state", "delivered"), lt("delivered_at", isoAt(now - DELIVERED_FOR))));
  await remove(and(eq("state", "dead"), lt("give_up_at", isoAt(now - DEAD_FOR))));
  for (const state of ["delivered", "dead"] as const) {
    const over = (await store.outbox.count(eq("state", state))) - most[state];
    if (over > 0) await remove(eq("state", state), over);
  }

  async function remove(where: Predicate, count = Number.POSITIVE_INFINITY): Promise<void> {
    for (let left = count; left > 0 && !signal.aborted; ) {
      const old = await store.outbox.pick(["id"], { where, order: byId, limit: Math.min(left, BATCH_SIZE) });
      if (old.length === 0) return;
      await store.outbox.delete(
        and(
          where,
          oneOf(
            "id",
            old.map(({ id }) => id),
          ),
        ),
      );
      left -= old.length;
    }
  }
}

async function giveUpOldest({ store }: Services, most: number, signal: AbortSignal): Promise<number> {
  const pending = eq("state", "pending");
  let over = (await store.outbox.count(pending)) - most;
  let count = 0;
  while (over > 0 && !signal.aborted) {
    const old = await store.outbox.pick(["id"], { where: pending, order: byId, limit: Math.min(over, BATCH_SIZE) });
    if (old.length === 0) break;
    const where = and(
      pending,
      oneOf(
        "id",
        old.map(({ id }) => id),
      ),
    );
    const last_error = "given up: too many pending deliveries";
    count += await store.outbox.update({ where, set: { state: "dead", last_error } });
    over -= old.length;
  }
  return count;
}
