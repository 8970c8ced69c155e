// The digest of a file that is computed while its pieces are sent.
import { createHash } from "node:crypto";
import type { UploadSource } from "../api/bodies.ts";

export class RunningDigest {
  readonly #source: UploadSource;
  readonly #signal: AbortSignal | undefined;
  readonly #hash = createHash("sha256");
  /** Number of bytes from the beginning that it contains. */
  #at = 0;

  constructor(source: UploadSource, signal?: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
  }

  /** Bytes that are sent again count once. There must be no gap before the position. */
  add(position: number, bytes: Uint8Array): void {
    if (position > this.#at) throw new Error(`the digest contains ${this.#at} bytes, not ${position}`);
    const rest = bytes.subarray(this.#at - position);
    this.#hash.update(rest);
    this.#at += rest.length;
  }

  /** Reads the bytes up to this position that were not sent. Returns the digest of all up to there, in hex. */
  async upTo(end: number): Promise<string> {
    if (this.#at < end)
      for await (const _ of bytesBetween(this.#source, { start: this.#at, end, digest: this, reuses: true }))
        this.#signal?.throwIfAborted();
    return this.#hash.copy().digest("hex");
  }
}

interface Extent {
  readonly start: number;
  readonly end: number;
  /** Updated with the bytes. */
  readonly digest: RunningDigest | null;
  /** Whether chunks may be reused, which `UploadSource.open` describes. */
  readonly reuses: boolean;
}

/** The bytes of the source between two positions. */
export async function* bytesBetween(
  source: UploadSource,
  { start, end, digest, reuses }: Extent,
): AsyncGenerator<Uint8Array> {
  let at = start;
  if (at === end) return;
  for await (const chunk of source.open(at, reuses)) {
    const bytes = chunk.subarray(0, end - at);
    digest?.add(at, bytes);
    at += bytes.length;
    yield bytes;
    if (at === end) return;
  }
}
