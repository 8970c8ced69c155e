// The blobs that this server adds to, where blobs can grow. What is here only saves work: without it, the server begins
// another blob for the rest of the upload, and the blobs are joined at the end.
import { createHash, type Hash } from "node:crypto";
import { part } from "../core/running.ts";

interface Segment {
  readonly key: string;
  /** Position of its first byte in the upload. */
  readonly start: number;
  /** Number of its bytes. */
  size: number;
  /** Hash of the segment's bytes, if they begin the upload. */
  readonly hash: Hash | null;
}

export const newSegment = (key: string, start: number): Segment => ({
  key,
  start,
  size: 0,
  hash: start === 0 ? createHash("sha256") : null,
});

/** More than are uploaded at the same time; the one that was not used for longest is forgotten first. */
const MAX_SEGMENTS = 1_000;

/** By upload. A request takes the segment out while it adds to it, so that there is never more than one writer. */
class Segments {
  readonly #waiting = new Map<number, Segment>();

  /** The segment that ends at this position of the upload. The caller puts it back when what it has added is recorded. */
  take(uploadId: number, end: number): Segment | null {
    const segment = this.#waiting.get(uploadId);
    if (segment === undefined) return null;
    // A segment that ends elsewhere: another server has continued the upload.
    this.#waiting.delete(uploadId);
    return segment.start + segment.size === end ? segment : null;
  }

  put(uploadId: number, segment: Segment): void {
    this.#waiting.set(uploadId, segment);
    if (this.#waiting.size <= MAX_SEGMENTS) return;
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest);
      break;
    }
  }
}

export const segments = part("growing blobs of uploads", () => new Segments());
