// Receives the pieces of an upload. Any server takes any piece: what has arrived is in the store and in its blobs.
import { REPR_DIGEST, UPLOAD_OFFSET } from "../../../api/platform/uploads.ts";
import { sha256In } from "../../../text/digest-field.ts";
import type { Context } from "../core/context.ts";
import { ApiError, badRequest, conflict } from "../core/errors.ts";
import { inUploadSlot } from "../files/service.ts";
import { eq } from "../store/query.ts";
import { type Brought, DividedStream } from "./divided.ts";
import { grow } from "./grow.ts";
import { join } from "./join.ts";
import { PIECE_BYTES, recordArrived, tooMany } from "./record.ts";
import { movedTo, ownUpload, piecesOf, type UploadRow } from "./service.ts";

/** More than an upload of the largest size has, if its connection does not break every few seconds. */
const MAX_PIECES = 10_000;

/** Throws 409 unless the piece begins where the last one has ended. Everything that arrives before an error is kept. */
export async function append(ctx: Context, id: number, bytes: AsyncIterable<Uint8Array>): Promise<UploadRow> {
  const offset = offsetIn(ctx);
  const sha256 = digestIn(ctx);
  let upload = await ownUpload(ctx, id);
  if (offset !== upload.received) throw movedTo(upload);
  if (sha256 !== null && upload.sha256 !== null && sha256 !== upload.sha256)
    throw badRequest(`${REPR_DIGEST} is not the digest with which the upload has begun`, REPR_DIGEST);
  if ((await ctx.store.uploadPieces.count(eq("upload_id", id))) >= MAX_PIECES)
    throw conflict(`the upload has ${MAX_PIECES} pieces; delete it, and send larger ones`);
  return inUploadSlot(ctx, async () => {
    const body = new DividedStream(bytes);
    const { growing } = ctx.blobs;
    if (growing !== null) upload = await grow(ctx, growing, upload, { body, sha256 });
    else
      while (await body.hasMore()) {
        if (upload.received === upload.size) throw tooMany(upload);
        upload = await takePiece(ctx, upload, { body, sha256 });
      }
    body.throwFailure();
    return upload;
  });
}

function offsetIn({ headers }: Context): number {
  const text = headers?.get(UPLOAD_OFFSET) ?? "";
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${UPLOAD_OFFSET} must be a number of bytes`, UPLOAD_OFFSET);
  return Number(text);
}

/** The announced digest of the whole upload in hex, or null. */
function digestIn({ headers }: Context): string | null {
  const field = headers?.get(REPR_DIGEST) ?? null;
  const digest = field === null ? null : sha256In(field);
  if (field !== null && digest === null)
    throw badRequest(`${REPR_DIGEST} must have a SHA-256 digest (sha-256=:BASE64:)`, REPR_DIGEST);
  return digest;
}

/** Stores the next bytes as a blob, and then records them; the last ones only together with the whole file. */
async function takePiece(ctx: Context, upload: UploadRow, { body, sha256 }: Brought): Promise<UploadRow> {
  const { blobs, random } = ctx;
  const { id, received: start } = upload;
  const key = `${piecesOf(id)}${random.uuid()}`;
  const most = Math.min(PIECE_BYTES, upload.size - start);
  const { size } = await blobs.put(key, body.take(most), { maxBytes: most });
  const received = start + size;
  try {
    if (received < upload.size) return await recordArrived(ctx, upload, received, { start, key });
    if (await body.hasMore()) throw tooMany(upload);
    return await join(ctx, upload, { start, key, hash: null, sha256 });
  } catch (error) {
    // After any other error, the piece may have been recorded. A job removes it if it was not.
    if (error instanceof ApiError) await blobs.delete(key);
    throw error;
  }
}
