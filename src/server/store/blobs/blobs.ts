// Large byte strings beside the rows: carve blocks, installers, packages. Always streamed, never whole in memory.
import type { Readable } from "node:stream";

export interface BlobInfo {
  readonly size: number;
  readonly modified: Date;
}

/** First and last byte, both included (RFC 9110, section 14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface Blobs {
  /** Keeps the whole stream under the key, replacing what was there, or nothing at all. */
  put(
    key: string,
    content: AsyncIterable<Uint8Array>,
    options: { maxBytes: number },
  ): Promise<{ size: number; sha256: string }>;
  /** Throws `NoSuchBlob`. A blob that is replaced or deleted meanwhile is read to its end as it was. */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** What is known of the blob, or null. */
  stat(key: string): Promise<BlobInfo | null>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
  /** The keys that start with the prefix, in code-point order. */
  list(prefix?: string): AsyncIterable<string>;
}

export class NoSuchBlob extends Error {
  constructor(key: string) {
    super(`there is no blob ${key}`);
  }
}

export class BlobTooLarge extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the content has more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

export class BadBlobKey extends Error {
  constructor(key: string) {
    super(`not a key for a blob: ${JSON.stringify(key.slice(0, 100))}`);
  }
}

const PART = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$/;

/**
 * Keys are made by the server, never taken from a client: parts of small letters, digits, dots, dashes and underscores, apart by slashes. No part
 * starts with a dot (`..`, temporary files); small letters only, for file systems that fold case; no names that Windows reserves.
 */
export function checkKey(key: string): void {
  const parts = key.split("/");
  const fine =
    key.length <= 400 &&
    parts.length <= 8 &&
    parts.every((part) => part.length <= 100 && PART.test(part) && !RESERVED.test(part));
  if (!fine) throw new BadBlobKey(key);
}

const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
