// Makes a file of the pieces of an upload.
import type { Hash } from "node:crypto";
import { type Context, within } from "../core/context.ts";
import { invalid, notOnThisServer } from "../core/errors.ts";
import { part } from "../core/running.ts";
import { keepFile, keepGrown } from "../files/service.ts";
import { BlobDiffers, type Blobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { and, eq, lt } from "../store/query.ts";
import { deletePieces, expiryFrom, moved, type UploadRow, unmoved } from "./service.ts";

/** By the ids of their uploads. */
const joins = part("joins of uploads", () => new Map<number, Promise<UploadRow>>());

/** The last blob of an upload: not recorded, or only in part. */
interface Last {
  readonly key: string;
  /** Position of its first byte. */
  readonly start: number;
  /** Hash of the segment's bytes, if this server has written all of them, and they are the whole upload. */
  readonly hash: Hash | null;
  /** The digest of the whole upload that the request has announced, in hex. */
  readonly sha256: string | null;
}

/**
 * Records the last piece together with the file. A proxy may end the request before a large file is joined: when the
 * client sends the piece again, that request waits for the first one.
 */
export async function join(ctx: Context, upload: UploadRow, last: Last): Promise<UploadRow> {
  const running = ctx.running.of(joins);
  const first = running.get(upload.id);
  if (first !== undefined) {
    await first.catch(() => {});
    throw await moved(ctx, upload);
  }
  const joining = joined(ctx, upload, last);
  running.set(upload.id, joining);
  try {
    return await joining;
  } finally {
    running.delete(upload.id);
  }
}

async function joined(ctx: Context, upload: UploadRow, last: Last): Promise<UploadRow> {
  const { store, blobs } = ctx;
  const { id, size } = upload;
  const file = await fileOf(ctx, upload, last).catch(async (error: unknown) => {
    if (!(error instanceof BlobDiffers || error instanceof NoSuchBlob)) throw error;
    // Another server may have joined the pieces, and deleted them.
    if ((await store.uploads.count(unmoved(upload))) === 0) throw await moved(ctx, upload);
    if (error instanceof NoSuchBlob) throw notOnThisServer(`a piece of the upload ${id}`, "it");
    // Nobody knows which piece is wrong.
    if ((await store.uploads.delete(unmoved(upload))) > 0) await deletePieces(blobs, id);
    throw invalid("sha256", "the content that has arrived has another SHA-256 digest; begin a new upload");
  });
  const set = { received: size, file_id: file.id, sha256: file.sha256, expires_at: expiryFrom(ctx.clock.now()) };
  await store.tx(async (tx) => {
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await moved(within(ctx, tx), upload);
    await tx.uploadPieces.delete(eq("upload_id", id));
  });
  await deletePieces(blobs, id);
  return { ...upload, ...set };
}

interface StoredRow {
  readonly id: number;
  readonly sha256: string;
}

/** Throws `BlobDiffers` if the content has another digest than the client has announced. */
async function fileOf(ctx: Context, upload: UploadRow, last: Last): Promise<StoredRow> {
  const { size } = upload;
  const sha256 = upload.sha256 ?? last.sha256;
  if (last.start === 0 && last.hash !== null) {
    const digest = last.hash.digest("hex");
    if (sha256 !== null && digest !== sha256) throw new BlobDiffers(last.key, sha256, digest);
    const kept = await keepGrown(ctx, last.key, { size, sha256: digest });
    if (kept !== null) return kept.row;
  }
  const content = contentOf(ctx.blobs, await extentsOf(ctx, upload, last));
  return (await keepFile(ctx, content, { maxBytes: size, ...(sha256 === null ? {} : { sha256 }) })).row;
}

interface Extent {
  readonly key: string;
  readonly size: number;
}

/** Each blob counts up to the position at which the next one begins, whatever is behind that. */
async function extentsOf({ store }: Context, { id, size, received }: UploadRow, last: Last): Promise<Extent[]> {
  const recorded = await store.uploadPieces.pick(["key", "start"], {
    // Another request may have recorded pieces meanwhile, which are left out.
    where: and(eq("upload_id", id), lt("start", received)),
    order: [{ column: "start", direction: "asc" }],
  });
  const pieces = recorded.some(({ key }) => key === last.key) ? recorded : [...recorded, last];
  return pieces.map(({ key, start }, i) => ({ key, size: (pieces[i + 1]?.start ?? size) - start }));
}

async function* contentOf(blobs: Blobs, extents: readonly Extent[]): AsyncGenerator<Uint8Array> {
  for (const { key, size } of extents)
    yield* (await blobs.get(key, { start: 0, end: size - 1 })) as AsyncIterable<Buffer>;
}
