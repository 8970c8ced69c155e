// Replies that are too long to be held whole: made part by part, while they are read.
import { setImmediate as breathe } from "node:timers/promises";
import type { Context } from "./context.ts";

/** Pulled by whoever reads, never ahead of it; ends when the reader goes away. An error cuts the connection off, so that it shows. */
export function bytesOf(
  ctx: Pick<Context, "log" | "requestId">,
  parts: AsyncGenerator<string>,
  what: string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          // Others get their turn: the embedded store answers at once, and a reader on this machine never has to be waited for.
          await breathe();
          const { done, value } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
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

/** JSON in place of a value that would be it. */
export class JsonStream {
  readonly body: ReadableStream<Uint8Array>;

  constructor(body: ReadableStream<Uint8Array>) {
    this.body = body;
  }
}

/** `rest` with a list under `key` before it. */
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
      if (page.length === 0) continue;
      yield `${first ? "" : ","}${JSON.stringify(page).slice(1, -1)}`;
      first = false;
    }
    const more = JSON.stringify(rest).slice(1);
    yield more === "}" ? "]}" : `],${more}`;
  }
  return new JsonStream(bytesOf(ctx, parts(), `the list of ${key}`));
}
