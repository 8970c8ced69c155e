// Replies that are too long for memory are generated in parts while they are being sent.
import { setImmediate as breathe } from "node:timers/promises";
import type { Context } from "../context.ts";

/**
 * Generates a part only when the reader requests it, and ends when the reader disconnects. On error the connection is
 * aborted, so that the client notices.
 */
export function bytesOf(
  ctx: Pick<Context, "log" | "requestId">,
  parts: AsyncGenerator<string>,
  what: string,
): ReadableStream<Uint8Array> {
  let isFirst = true;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const texts: string[] = [];
          let length = 0;
          do {
            // Yields to other requests: with the embedded store and a local reader, this loop would otherwise never
            // wait.
            await breathe();
            const { done, value } = await parts.next();
            if (done) {
              if (length > 0) controller.enqueue(bytesOfTexts(texts));
              return controller.close();
            }
            texts.push(value);
            length += value.length;
          } while (length < CHUNK_CHARACTERS && !isFirst);
          isFirst = false;
          controller.enqueue(bytesOfTexts(texts));
        } catch (err) {
          ctx.log.error({ request_id: ctx.requestId, err }, `${what} broke off`);
          throw err;
        }
      },
      async cancel() {
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Characters that are collected before they are sent: each write costs about as much as rendering six hosts. */
const CHUNK_CHARACTERS = 128 * 1024;

/** The texts, one after the other. They are not joined first, because long texts are slow. */
function bytesOfTexts(texts: readonly string[]): Uint8Array {
  let length = 0;
  for (const text of texts) length += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

/**
 * Rows that are rendered to one text. Texts of more than about 100 KB are much slower, because V8 allocates each of
 * them separately.
 */
const BATCH_SIZE = 50;

function* slices<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += BATCH_SIZE) yield rows.slice(at, at + BATCH_SIZE);
}

/** Already serialised JSON in place of a value. */
export class JsonStream {
  readonly body: ReadableStream<Uint8Array>;

  constructor(body: ReadableStream<Uint8Array>) {
    this.body = body;
  }
}

/**
 * A JSON object with a member that is serialised already, in place of a value: many replies may share the same bytes.
 */
export class JsonWithBytes {
  readonly parts: readonly Uint8Array<ArrayBuffer>[];

  /** `rest` must not be empty. */
  constructor(rest: object, key: string, json: Uint8Array<ArrayBuffer>) {
    const start = `${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(key)}:`;
    this.parts = [Buffer.from(start), json, Buffer.from("}")];
  }
}

/** Serialises `rest`, preceded by a list under `key`. */
export function jsonWithList(
  ctx: Pick<Context, "log" | "requestId">,
  key: string,
  pages: AsyncIterable<readonly unknown[]>,
  rest: object,
): JsonStream {
  async function* parts(): AsyncGenerator<string> {
    yield `{${JSON.stringify(key)}:[`;
    let first = true;
    for await (const page of pages) {
      for (const rows of slices(page)) {
        yield `${first ? "" : ","}${JSON.stringify(rows).slice(1, -1)}`;
        first = false;
      }
    }
    const more = JSON.stringify(rest).slice(1);
    yield more === "}" ? "]}" : `],${more}`;
  }
  return new JsonStream(bytesOf(ctx, parts(), `the list of ${key}`));
}
