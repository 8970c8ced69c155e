// Storage for large files that do not belong in rows: carve blocks, installers, packages. Always streamed, never
// completely in memory.
import { createHash, type Hash } from "node:crypto";
import type { Readable } from "node:stream";
import { StoreUnavailable } from "../store.ts";

export interface BlobInfo {
  readonly size: number;
  readonly modified: Date;
}

/** First and last byte, both inclusive (RFC 9110, section 14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface BlobDigest {
  readonly size: number;
  readonly sha256: string;
}

export interface PutOptions {
  readonly maxBytes: number;
  /** Stores nothing and throws `BlobDiffers` if the content has another SHA-256 digest (in hex). */
  readonly sha256?: string;
}

/**
 * Blobs whose content arrives with several requests. Only the server that began one may add to it, one request at a time;
 * others begin a blob of their own. Bytes after those that were acknowledged may be there, and mean nothing.
 */
export interface GrowingBlobs {
  /**
   * Adds the content to a blob of `start` bytes (0: a new one). Returns the number of added bytes, with which `hash` is
   * updated. They are not durable before `sync`. If it fails, nobody may add to the blob again.
   */
  append(
    key: string,
    start: number,
    content: AsyncIterable<Uint8Array>,
    options: { readonly maxBytes: number; readonly hash: Hash | null },
  ): Promise<number>;
  /** Makes all bytes durable that have been added before. */
  sync(key: string): Promise<void>;
  /**
   * The content is kept under another key too, without a copy. False: that is not possible here, or it has another size.
   * Nobody may add to it from then on.
   */
  keepAs(key: string, target: string, size: number): Promise<boolean>;
}

export interface Blobs {
  /** Where the blobs are, for messages. Contains no credentials. */
  readonly place: string;
  /** Stores the whole stream under the key and replaces an existing blob. If it fails, nothing changes. */
  put(key: string, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<BlobDigest>;
  /**
   * Throws `NoSuchBlob`. A range that starts after the last byte is empty. If the blob is replaced or deleted
   * meanwhile, the old content is read to its end, or the stream fails; contents are never mixed.
   */
  get(key: string, range?: ByteRange): Promise<Readable>;
  /** The path of the blob's file if blobs are files on this machine, else null. Only for reading. */
  localPath(key: string): string | null;
  /** Throws `NoRoom` if there is too little room for this many bytes more. */
  checkRoom(bytes: number): Promise<void>;
  /** Null: blobs are stored at once only. */
  readonly growing: GrowingBlobs | null;
  /** Size and modification time of the blob, or null if it does not exist. */
  stat(key: string): Promise<BlobInfo | null>;
  /** Returns whether the blob existed. */
  delete(key: string): Promise<boolean>;
  /** The keys that start with the prefix, in code-point order. */
  list(prefix?: string): AsyncGenerator<string>;
  /** Deletes what crashed servers left of uploads that began before the given time. Returns the number of uploads. */
  removeUnfinished(before: Date): Promise<number>;
  /** Throws `BlobsUnavailable` if blobs cannot be stored at the moment, or `BlobsMisconfigured` if they never can. */
  check(): Promise<void>;
  /** Why blobs cannot be stored, or null. Does not wait: the answer is that of a recent check. */
  problem(): string | null;
  close(): Promise<void>;
}

/** Reads the whole blob. Throws `NoSuchBlob`. */
export async function digestOf(blobs: Blobs, key: string): Promise<BlobDigest> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of await blobs.get(key)) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** A bucket needs two requests for each blob, so several are deleted at the same time. Returns how many existed. */
export async function deleteAll(blobs: Blobs, keys: AsyncGenerator<string>): Promise<number> {
  let deleted = 0;
  const work = async () => {
    for await (const key of keys) if (await blobs.delete(key)) deleted++;
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_DELETES }, work));
  return deleted;
}

const MAX_CONCURRENT_DELETES = 4;

/** The content cannot be stored or read at the moment; a later attempt can succeed. */
export class BlobsUnavailable extends StoreUnavailable {}

/** The place for blobs does not exist, or refuses this server. Its administrator has to change something. */
export class BlobsMisconfigured extends BlobsUnavailable {}

/** The disk has as little room as is kept free for the store. */
export class NoRoom extends BlobsUnavailable {
  readonly free: number;
  readonly kept: number;

  constructor(place: string, free: number, kept: number) {
    super(`${place}: ${free} bytes are free, and ${kept} of them are kept for the store`);
    this.free = free;
    this.kept = kept;
  }
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

export class BlobDiffers extends Error {
  constructor(key: string, expected: string, actual: string) {
    super(`the content for ${key} has the SHA-256 digest ${actual} instead of ${expected}`);
  }
}

export class BadBlobKey extends Error {
  constructor(key: string) {
    super(`not a key for a blob: ${JSON.stringify(key.slice(0, 100))}`);
  }
}

const PART = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$/;

/**
 * Keys are generated by the server and never taken from a client. They consist of parts separated by slashes; parts
 * contain lower-case letters, digits, dots, dashes and underscores. No part starts with a dot (`..`, temporary
 * files). Upper-case letters are excluded for case-insensitive file systems, and names that Windows reserves are
 * excluded too.
 */
export function isKey(key: string): boolean {
  const parts = key.split("/");
  return (
    key.length <= 400 &&
    parts.length <= 8 &&
    parts.every((part) => part.length <= 100 && PART.test(part) && !RESERVED.test(part))
  );
}

export function checkKey(key: string): void {
  if (!isKey(key)) throw new BadBlobKey(key);
}

const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;
