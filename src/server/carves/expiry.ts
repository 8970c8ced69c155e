// What becomes of a carve's contents when its time is over, or when it is gone itself.
import type { Services } from "../core/context.ts";
import { and, eq, not, oneOf } from "../store/query.ts";
import { alive, CARVE_KEYS, carveKeys } from "./rules.ts";

type Parts = Pick<Services, "store" | "blobs" | "clock">;

const BATCH = 100;

/** Marks carves whose time is over and removes their blocks. Gives how many. */
export async function expireCarves({ store, blobs, clock }: Parts, signal: AbortSignal): Promise<number> {
  let expired = 0;
  const over = and(eq("expired", false), not(alive(clock.now())));
  while (!signal.aborted) {
    const due = (await store.carves.pick(["id"], { where: over, limit: BATCH })).map(({ id }) => id);
    if (due.length === 0) break;
    // Marked first: from then on no block of them is taken.
    await store.carves.update({ where: oneOf("id", due), set: { expired: true } });
    for (const id of due) {
      if (signal.aborted) return expired;
      for await (const key of blobs.list(carveKeys(id))) await blobs.delete(key);
      expired++;
    }
  }
  return expired;
}

/** Removes blocks of carves that are expired or went with their host. Gives how many. */
export async function sweepBlocks({ store, blobs }: Parts, signal: AbortSignal): Promise<number> {
  let removed = 0;
  let last = "";
  let isKept = true;
  for await (const key of blobs.list(CARVE_KEYS)) {
    if (signal.aborted) break;
    const id = key.slice(CARVE_KEYS.length).split("/")[0]!;
    if (id !== last) {
      const carve = /^\d{1,15}$/.test(id) ? await store.carves.get(Number(id)) : null;
      isKept = carve !== null && !carve.expired;
      last = id;
    }
    if (!isKept && (await blobs.delete(key))) removed++;
  }
  return removed;
}
