// Adds what a request brings to a blob that grows with the upload, so that nothing is written or hashed twice.
import type { Context } from "../core/context.ts";
import { ApiError, notOnThisServer } from "../core/errors.ts";
import { type GrowingBlobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { eq } from "../store/query.ts";
import type { Brought } from "./divided.ts";
import { join } from "./join.ts";
import { PIECE_BYTES, recordArrived, tooMany } from "./record.ts";
import { Recording } from "./recording.ts";
import { newSegment, segments } from "./segments.ts";
import { moved, piecesOf, type UploadRow } from "./service.ts";

/** Stores and records the whole body. What has arrived is made durable and recorded while more arrives. */
export async function grow(
  ctx: Context,
  growing: GrowingBlobs,
  upload: UploadRow,
  { body, sha256 }: Brought,
): Promise<UploadRow> {
  if (!(await body.hasMore())) return upload;
  if (upload.received === upload.size) throw tooMany(upload);
  const { id, received } = upload;
  const open = ctx.running.of(segments);
  const segment = open.take(id, received) ?? newSegment(`${piecesOf(id)}${ctx.random.uuid()}`, received);
  let isRecorded = segment.size > 0;

  const recording = new Recording(upload, async (before, arrived) => {
    await growing.sync(segment.key);
    const { start, key } = segment;
    const after = await recordArrived(ctx, before, arrived, isRecorded ? null : { start, key });
    isRecorded = true;
    return after;
  });

  try {
    let arrived = received;
    while (await body.hasMore()) {
      recording.throwFailure();
      const most = Math.min(PIECE_BYTES, upload.size - arrived);
      if (most === 0) throw tooMany(upload);
      const { key, size, hash } = segment;
      segment.size += await growing.append(key, size, body.take(most), { maxBytes: most, hash });
      arrived = segment.start + segment.size;
      if (arrived < upload.size) {
        recording.upTo(arrived);
        continue;
      }
      const before = await recording.end();
      if (await body.hasMore()) throw tooMany(upload);
      await growing.sync(key);
      return await join(ctx, before, { ...segment, sha256 });
    }
    const recorded = await recording.end();
    open.put(id, segment);
    return recorded;
  } catch (error) {
    await recording.settled();
    // After any other error, it may have been recorded. A job removes it if it was not.
    if (error instanceof ApiError && !isRecorded) await ctx.blobs.delete(segment.key);
    if (!(error instanceof NoSuchBlob)) throw error;
    if ((await ctx.store.uploads.count(eq("id", id))) === 0) throw await moved(ctx, upload);
    throw notOnThisServer(`a piece of the upload ${id}`, "it");
  }
}
