// Receives the pieces of an upload. Any server takes any piece: what has arrived is in the store and in its blobs.
import { UPLOAD_OFFSET } from "../../api/uploads.ts";
import { type Context, within } from "../core/context.ts";
import { ApiError, badRequest, conflict } from "../core/errors.ts";
import { inUploadSlot } from "../files/service.ts";
import { eq } from "../store/query.ts";
import { Divided } from "./divided.ts";
import { join } from "./join.ts";
import { expiryFrom, moved, movedTo, ownUpload, piecesOf, type UploadRow, unmoved } from "./service.ts";

/**
 * A longer body is stored in several pieces, so that little of it is lost in a crash. Buckets take this size with one
 * request.
 */
const PIECE_BYTES = 8 * 1024 * 1024;
/** More than an upload of the largest size has, if its connection does not break every few seconds. */
const MAX_PIECES = 10_000;

/** Throws 409 unless the piece begins where the last one has ended. Everything that arrives before an error is kept. */
export async function append(ctx: Context, id: number, bytes: AsyncIterable<Uint8Array>): Promise<UploadRow> {
  const offset = offsetIn(ctx);
  let upload = await ownUpload(ctx, id);
  if (offset !== upload.received) throw movedTo(upload);
  if ((await ctx.store.uploadPieces.count(eq("upload_id", id))) >= MAX_PIECES)
    throw conflict(`the upload has ${MAX_PIECES} pieces; delete it, and send larger ones`);
  return inUploadSlot(ctx, async () => {
    const body = new Divided(bytes);
    while (await body.hasMore()) {
      if (upload.received === upload.size) throw tooMany(upload);
      upload = await takePiece(ctx, upload, body);
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

const tooMany = ({ size }: UploadRow) => badRequest(`the upload has only ${size} bytes`);

/** Stores the next bytes, and then records them; the last ones only together with the whole file. */
async function takePiece(ctx: Context, upload: UploadRow, body: Divided): Promise<UploadRow> {
  const { blobs, random } = ctx;
  const { id, received: start } = upload;
  const key = `${piecesOf(id)}${random.uuid()}`;
  const most = Math.min(PIECE_BYTES, upload.size - start);
  const { size } = await blobs.put(key, body.take(most), { maxBytes: most });
  const received = start + size;
  try {
    if (received < upload.size) return await recordPiece(ctx, upload, { start, key, received });
    if (await body.hasMore()) throw tooMany(upload);
    return await join(ctx, upload, key);
  } catch (error) {
    // After any other error, the piece may have been recorded. A job removes it if it was not.
    if (error instanceof ApiError) await blobs.delete(key);
    throw error;
  }
}

async function recordPiece(
  ctx: Context,
  upload: UploadRow,
  { start, key, received }: { start: number; key: string; received: number },
): Promise<UploadRow> {
  const set = { received, expires_at: expiryFrom(ctx.clock.now()) };
  await ctx.store.tx(async (tx) => {
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await moved(within(ctx, tx), upload);
    await tx.uploadPieces.insert({ upload_id: upload.id, start, key });
  });
  return { ...upload, ...set };
}
