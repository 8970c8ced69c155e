// Reads objects, also when the connection is interrupted.
import { Readable } from "node:stream";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { type ByteRange, NoSuchBlob } from "../blobs.ts";
import type { Bucket } from "./bucket.ts";
import { nameOf, statusOf } from "./errors.ts";

/** A download continues this often after an interruption; progress starts the count again. */
const MAX_RESUMES = 3;

/** Null: the blob has no byte in the range. */
export async function open(from: Bucket, key: string, range: ByteRange | undefined, etag?: string) {
  const request = {
    ...from.where(key),
    ...(range ? { Range: `bytes=${range.start}-${range.end ?? ""}` } : {}),
    ...(etag === undefined ? {} : { IfMatch: etag }),
  };
  try {
    const { Body, ETag, ContentLength } = await from.client.send(new GetObjectCommand(request), from.soon());
    return { content: Body as Readable, etag: ETag, size: ContentLength ?? null };
  } catch (error) {
    if (statusOf(error) === 416) return null;
    if (nameOf(error) === "NoSuchKey" || nameOf(error) === "NotFound") throw new NoSuchBlob(key);
    throw from.failed(error);
  }
}

type OpenedObject = NonNullable<Awaited<ReturnType<typeof open>>>;

/** Reads the content to its end, and continues after interruptions where they happened. */
export function resuming(from: Bucket, key: string, start: number, first: OpenedObject): Readable {
  const { limits } = from;
  let current = first.content;
  async function* bytes() {
    let done = 0;
    let resumes = 0;
    while (true) {
      try {
        for await (const chunk of unlessSilent(current, limits.silenceMs)) {
          done += chunk.length;
          resumes = 0;
          yield chunk;
        }
        if (first.size === null || done >= first.size) return;
        throw new Error(`the content ended after ${done} of ${first.size} bytes`);
      } catch (error) {
        current.destroy();
        const { size, etag } = first;
        if (stream.destroyed || done === size) return;
        if (resumes++ >= MAX_RESUMES || etag === undefined || size === null) throw from.failed(error);
        const rest = await open(from, key, { start: start + done, end: start + size - 1 }, etag);
        if (rest === null || rest.etag !== etag) throw from.failed(error);
        current = rest.content;
      }
    }
  }
  const source = bytes();
  // Not `Readable.from`, which would wait for the next bytes before it ends the connection.
  const stream = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      source.next().then(
        ({ done, value }) => stream.push(done ? null : value),
        (error: Error) => stream.destroy(error),
      );
    },
    destroy(error, done) {
      current.destroy();
      done(error);
    },
  });
  return stream;
}

/** Fails if no byte arrives for too long: the connection may be dead without an error. */
async function* unlessSilent(content: Readable, milliseconds: number): AsyncGenerator<Buffer> {
  const wait = () => setTimeout(() => content.destroy(new Error("the server sends nothing")), milliseconds);
  let timer = wait();
  try {
    for await (const chunk of content) {
      // A slow reader is no silence of the server.
      clearTimeout(timer);
      yield chunk as Buffer;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
  }
}
