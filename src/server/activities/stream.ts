// Activities as server-sent events (WHATWG HTML, 9.2): resumable by the place in the chain of the last one that was read.
import type { z } from "zod";
import type { activitiesApi } from "../../api/activities.ts";
import type { Streamed } from "../../api/endpoint.ts";
import type { Context } from "../core/context.ts";
import { badRequest, unavailable } from "../core/errors.ts";
import { feedOf } from "./feed.ts";
import { activitiesWhere } from "./filters.ts";
import { type FeedEvent, follow } from "./follow.ts";

const RETRY_MS = 1_000;
/** Readers of one server at most: each looks into the store for every entry. */
const READERS_MAX = 100;

type Query = z.output<typeof activitiesApi.stream.query>;

export async function streamActivities(ctx: Context, { last = 0, once, ...filters }: Query): Promise<Streamed> {
  const seen = ctx.headers?.get("last-event-id")?.trim() ?? "";
  if (!/^\d{0,15}$/.test(seen)) throw badRequest(`Invalid Last-Event-ID: ${seen.slice(0, 100)}`, "Last-Event-ID");
  const where = activitiesWhere(filters);
  if (feedOf(ctx).readers >= READERS_MAX) throw unavailable(`${READERS_MAX} readers follow activities already`);
  const stop = new AbortController();
  const events = follow(ctx, { where, after: seen === "" ? null : Number(seen), last, once }, stop.signal);
  const encoder = new TextEncoder();
  let begun = false;
  return {
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          // Told at once, that the reader knows it is listened to.
          if (!begun) {
            begun = true;
            return controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
          }
          const { value, done } = await events.next();
          if (done) return controller.close();
          controller.enqueue(encoder.encode(frame(value)));
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

// A quiet stretch has its place too: who comes again after it does not look at it again.
const frame = (event: FeedEvent): string =>
  event.type === "quiet"
    ? `id: ${event.position}\nevent: quiet\ndata: {}\n\n`
    : `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;
