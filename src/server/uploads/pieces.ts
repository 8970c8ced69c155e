// Receives the pieces of an upload. Any server takes any piece: what has arrived is in the store and in its blobs.
import { UPLOAD_OFFSET } from "../../api/uploads.ts";
import { type Context, within } from "../core/context.ts";
import { ApiError, badRequest, conflict, invalid, notOnThisServer } from "../core/errors.ts";
import { inUploadSlot, keepFile } from "../files/service.ts";
import { BlobDiffers, type Blobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { and, eq, isNull, lt } from "../store/query.ts";
import { Divided } from "./divided.ts";
import { deletePieces, expiryFrom, ownUpload, piecesOf, type UploadRow } from "./service.ts";

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
  if (offset !== upload.received) throw moved(upload);
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

const moved = ({ received }: UploadRow) => conflict(`${received} bytes have arrived: send what follows them`);
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
    return await complete(ctx, upload, key);
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
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await lost(within(ctx, tx), upload);
    await tx.uploadPieces.insert({ upload_id: upload.id, start, key });
  });
  return { ...upload, ...set };
}

/** Optimistic lock: another request may have stored the same bytes meanwhile. */
const unmoved = ({ id, received }: UploadRow) => and(eq("id", id), eq("received", received), isNull("file_id"));

const lost = async (ctx: Context, { id }: UploadRow) => moved(await ownUpload(ctx, id));

/** Joins the pieces. A request that is repeated, because its reply was lost, may do the same: there is one file. */
async function complete(ctx: Context, upload: UploadRow, lastKey: string): Promise<UploadRow> {
  const { store, blobs } = ctx;
  const { id, size, sha256 } = upload;
  const pieces = await store.uploadPieces.pick(["key"], {
    // Without those that another request has recorded meanwhile.
    where: and(eq("upload_id", id), lt("start", upload.received)),
    order: [{ column: "start", direction: "asc" }],
  });
  const keys = [...pieces.map(({ key }) => key), lastKey];
  const { row: file } = await keepFile(ctx, contentOf(blobs, keys), { maxBytes: size, sha256 }).catch(
    async (error: unknown) => {
      if (!(error instanceof BlobDiffers || error instanceof NoSuchBlob)) throw error;
      // Another request may have joined the pieces, and deleted them.
      if ((await store.uploads.count(unmoved(upload))) === 0) throw await lost(ctx, upload);
      if (error instanceof NoSuchBlob) throw notOnThisServer(`a piece of the upload ${id}`, "it");
      // Nobody knows which piece is wrong.
      if ((await store.uploads.delete(unmoved(upload))) > 0) await deletePieces(blobs, id);
      throw invalid("sha256", "the content that has arrived has another SHA-256 digest; begin a new upload");
    },
  );
  const set = { received: size, file_id: file.id, expires_at: expiryFrom(ctx.clock.now()) };
  await store.tx(async (tx) => {
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await lost(within(ctx, tx), upload);
    await tx.uploadPieces.delete(eq("upload_id", id));
  });
  await deletePieces(blobs, id);
  return { ...upload, ...set };
}

async function* contentOf(blobs: Blobs, keys: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* (await blobs.get(key)) as AsyncIterable<Buffer>;
}
