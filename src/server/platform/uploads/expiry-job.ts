import { hours } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { Job } from "../core/job.ts";
import { removeUnknownBlobs } from "../files/service.ts";
import { and, eq, lte, oneOf } from "../store/query.ts";
import { deletePieces, PIECE_KEYS } from "./service.ts";

const BATCH_SIZE = 100;
/** Longer than it takes to receive a piece. */
const UNKNOWN_KEPT_FOR = hours(24);

async function removeExpired({ store, blobs, clock }: Services, signal: AbortSignal): Promise<number> {
  const expired = lte("expires_at", clock.iso());
  let removed = 0;
  for await (const rows of store.uploads.pages({ where: expired }, BATCH_SIZE, ["id"]))
    for (const { id } of rows) {
      if (signal.aborted) return removed;
      // A piece that has just arrived has extended the session.
      if ((await store.uploads.delete(and(eq("id", id), expired))) === 0) continue;
      await deletePieces(blobs, id);
      removed++;
    }
  return removed;
}

export const expiredUploads: Job = {
  name: "expired_uploads",
  every: hours(1),
  async run(services, signal) {
    const { store, blobs, clock, log } = services;
    const uploads = await removeExpired(services, signal);
    const rowsOf = (keys: readonly string[]) => store.uploadPieces.pick(["key"], { where: oneOf("key", keys) });
    const before = clock.now() - UNKNOWN_KEPT_FOR;
    const pieces = await removeUnknownBlobs(blobs, PIECE_KEYS, { before, rowsOf, signal });
    if (uploads + pieces > 0) log.info({ uploads, pieces }, "expired uploads were removed");
  },
};
