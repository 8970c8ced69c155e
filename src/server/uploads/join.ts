// Makes a file of the pieces of an upload.
import { type Context, within } from "../core/context.ts";
import { invalid, notOnThisServer } from "../core/errors.ts";
import { part } from "../core/running.ts";
import { keepFile } from "../files/service.ts";
import { BlobDiffers, type Blobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { and, eq, lt } from "../store/query.ts";
import { deletePieces, expiryFrom, moved, type UploadRow, unmoved } from "./service.ts";

/** By the ids of their uploads. */
const joins = part("joins of uploads", () => new Map<number, Promise<UploadRow>>());

/**
 * Records the last piece together with the file. A proxy may end the request before a large file is joined: when the
 * client sends the piece again, that request waits for the first one.
 */
export async function join(ctx: Context, upload: UploadRow, lastKey: string): Promise<UploadRow> {
  const running = ctx.running.of(joins);
  const first = running.get(upload.id);
  if (first !== undefined) {
    await first.catch(() => {});
    throw await moved(ctx, upload);
  }
  const joining = joined(ctx, upload, lastKey);
  running.set(upload.id, joining);
  try {
    return await joining;
  } finally {
    running.delete(upload.id);
  }
}

async function joined(ctx: Context, upload: UploadRow, lastKey: string): Promise<UploadRow> {
  const { store, blobs } = ctx;
  const { id, size, sha256, received } = upload;
  const pieces = await store.uploadPieces.pick(["key"], {
    // Without those that another request has recorded meanwhile.
    where: and(eq("upload_id", id), lt("start", received)),
    order: [{ column: "start", direction: "asc" }],
  });
  const content = contentOf(blobs, [...pieces.map(({ key }) => key), lastKey]);
  const { row: file } = await keepFile(ctx, content, { maxBytes: size, sha256 }).catch(async (error: unknown) => {
    if (!(error instanceof BlobDiffers || error instanceof NoSuchBlob)) throw error;
    // Another server may have joined the pieces, and deleted them.
    if ((await store.uploads.count(unmoved(upload))) === 0) throw await moved(ctx, upload);
    if (error instanceof NoSuchBlob) throw notOnThisServer(`a piece of the upload ${id}`, "it");
    // Nobody knows which piece is wrong.
    if ((await store.uploads.delete(unmoved(upload))) > 0) await deletePieces(blobs, id);
    throw invalid("sha256", "the content that has arrived has another SHA-256 digest; begin a new upload");
  });
  const set = { received: size, file_id: file.id, expires_at: expiryFrom(ctx.clock.now()) };
  await store.tx(async (tx) => {
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await moved(within(ctx, tx), upload);
    await tx.uploadPieces.delete(eq("upload_id", id));
  });
  await deletePieces(blobs, id);
  return { ...upload, ...set };
}

async function* contentOf(blobs: Blobs, keys: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const key of keys) yield* (await blobs.get(key)) as AsyncIterable<Buffer>;
}
