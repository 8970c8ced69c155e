import type { Readable } from "node:stream";
import { type BlobDigest, type Blobs, digestOf, NoSuchBlob } from "../blobs/blobs.ts";
import { CopyDiffers } from "./copy.ts";

export interface BlobsCopied {
  /** How many blobs were copied, and how many the target had already. */
  readonly blobs: number;
  readonly present: number;
}

export interface CopyBlobsOptions {
  readonly onProgress?: (progress: { readonly key: string; readonly blobs: number }) => void;
}

const ANY_SIZE = { maxBytes: Number.MAX_SAFE_INTEGER };
const isSame = (a: BlobDigest, b: BlobDigest): boolean => a.size === b.size && a.sha256 === b.sha256;

/**
 * Copies every blob, and reads each copy back to compare its digest. Blobs that the target has already are compared
 * too, so an interrupted copy can be repeated. Throws `CopyDiffers` for a blob that has another content in the target.
 */
export async function copyBlobs(from: Blobs, to: Blobs, { onProgress }: CopyBlobsOptions = {}): Promise<BlobsCopied> {
  let blobs = 0;
  let present = 0;
  for await (const key of from.list()) {
    onProgress?.({ key, blobs: blobs + present });
    const stored = (await to.stat(key)) === null ? null : await digestOf(to, key);
    if (stored !== null) {
      const expected = await unlessGone(digestOf(from, key));
      if (expected === null) continue;
      if (!isSame(stored, expected))
        throw new CopyDiffers(
          `${to.place} has another file ${key}: it belongs to another server. Copy to another folder, or another prefix`,
        );
      present++;
      continue;
    }
    const content: Readable | null = await unlessGone(from.get(key));
    if (content === null) continue;
    const read = await to.put(key, content, ANY_SIZE);
    if (!isSame(await digestOf(to, key), read))
      throw new CopyDiffers(`${key}: the file in ${to.place} differs from the one read; delete it and copy again`);
    blobs++;
  }
  return { blobs, present };
}

/** A server that runs may delete a blob after it was listed. */
const unlessGone = <R>(work: Promise<R>): Promise<R | null> =>
  work.catch((error: unknown) => {
    if (error instanceof NoSuchBlob) return null;
    throw error;
  });
