// Adds what a request brings to a blob that grows with the upload, so that nothing is written or hashed twice.
import type { Context } from "../core/context.ts";
import { ApiError, notOnThisServer } from "../core/errors.ts";
import { type GrowingBlobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { eq } from "../store/query.ts";
import type { Brought } from "./divided.ts";
import { join } from "./join.ts";
import { PIECE_BYTES, recordArrived, tooMany } from "./record.ts";
import { newSegment, segments } from "./segments.ts";
import { moved, piecesOf, type UploadRow } from "./service.ts";

/** Stores and records the whole body. One piece is made durable and recorded while the next one arrives. */
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
  let recording = Promise.resolve(upload);

  const record = async (before: UploadRow, arrived: number): Promise<UploadRow> => {
    await growing.sync(segment.key);
    const { start, key } = segment;
    const after = await recordArrived(ctx, before, arrived, isRecorded ? null : { start, key });
    isRecorded = true;
    return after;
  };

  try {
    while (await body.hasMore()) {
      const at = segment.start + segment.size;
      const most = Math.min(PIECE_BYTES, upload.size - at);
      if (most === 0) throw tooMany(upload);
      const { key, size, hash } = segment;
      segment.size += await growing.append(key, size, body.take(most), { maxBytes: most, hash });
      const before = await recording;
      const arrived = segment.start + segment.size;
      if (arrived === upload.size) {
        if (await body.hasMore()) throw tooMany(upload);
        await growing.sync(key);
        return await join(ctx, before, { ...segment, sha256 });
      }
      recording = record(before, arrived);
      // Awaited with the next piece; until then a failure is not unhandled.
      recording.catch(() => undefined);
    }
    const recorded = await recording;
    open.put(id, segment);
    return recorded;
  } catch (error) {
    await recording.catch(() => undefined);
    // After any other error, it may have been recorded. A job removes it if it was not.
    if (error instanceof ApiError && !isRecorded) await ctx.blobs.delete(segment.key);
    if (!(error instanceof NoSuchBlob)) throw error;
    if ((await ctx.store.uploads.count(eq("id", id))) === 0) throw await moved(ctx, upload);
    throw notOnThisServer(`a piece of the upload ${id}`, "it");
  }
}
