// A live query as server-sent events (WHATWG HTML, 9.2): resumable by the number of the last result that was read.
import type { Streamed } from "../../api/endpoint.ts";
import type { Context } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { follow, type LiveEvent } from "./follow.ts";
import { ownCampaign } from "./service.ts";

const RETRY_MS = 1_000;

export async function streamLiveQuery(ctx: Context, id: number): Promise<Streamed> {
  const row = await ownCampaign(ctx, id);
  const last = ctx.headers?.get("last-event-id")?.trim() ?? "";
  // One that was never given here is another query's: going on after it would pass over what there is.
  if (!/^\d{0,15}$/.test(last) || Number(last) > row.last_seq)
    throw badRequest(`Invalid Last-Event-ID: ${last.slice(0, 100)}`, "Last-Event-ID");
  const stop = new AbortController();
  const events = follow(ctx, row.id, Number(last), stop.signal);
  const encoder = new TextEncoder();
  let begun = false;
  return {
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value, done } = await events.next();
          if (done) return controller.close();
          const start = begun ? "" : `retry: ${RETRY_MS}\n\n`;
          begun = true;
          controller.enqueue(encoder.encode(start + frame(value)));
        },
        async cancel() {
          stop.abort();
          await events.return();
        },
      },
      { highWaterMark: 1 },
    ),
  };
}

const frame = (event: LiveEvent): string =>
  event.type === "quiet" ? ":\n\n" : `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;
