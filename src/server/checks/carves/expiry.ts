// Deletes the contents of carves that have expired or were deleted.
import type { Services } from "../../platform/core/context.ts";
import { deleteAll } from "../../platform/store/blobs/blobs.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { alive, CARVE_KEYS, carveKeys } from "./rules.ts";

type Parts = Pick<Services, "store" | "blobs" | "clock">;

const BATCH_SIZE = 100;

/** Marks overdue carves as expired and deletes their blocks. Returns the number of carves. */
export async function expireCarves({ store, blobs, clock }: Parts, signal: AbortSignal): Promise<number> {
  let expired = 0;
  const isOver = and(eq("expired", false), not(alive(clock.now())));
  while (!signal.aborted) {
    const due = (await store.carves.pick(["id"], { where: isOver, limit: BATCH_SIZE })).map(({ id }) => id);
    if (due.length === 0) break;
    // Marked first, so that no further block is accepted.
    await store.carves.update({ where: oneOf("id", due), set: { expired: true } });
    for (const id of due) {
      if (signal.aborted) return expired;
      await deleteAll(blobs, blobs.list(carveKeys(id)));
      expired++;
    }
  }
  return expired;
}

/** Deletes blocks of expired and deleted carves. Returns the number of blocks. */
export async function sweepBlocks({ store, blobs }: Parts, signal: AbortSignal): Promise<number> {
  async function* unneeded() {
    let last = "";
    let isKept = true;
    for await (const key of blobs.list(CARVE_KEYS)) {
      if (signal.aborted) return;
      const id = key.slice(CARVE_KEYS.length).split("/")[0]!;
      if (id !== last) {
        const carve = /^\d{1,15}$/.test(id) ? await store.carves.get(Number(id)) : null;
        isKept = carve !== null && !carve.expired;
        last = id;
      }
      if (!isKept) yield key;
    }
  }
  return deleteAll(blobs, unneeded());
}
