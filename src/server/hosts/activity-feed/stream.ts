// Activities as server-sent events (WHATWG HTML, 9.2). Resumable by the chain position of the last event read.
import type { z } from "zod";
import type { StreamedBody } from "../../../api/bodies.ts";
import { activitiesApi } from "../../../api/platform/activities.ts";
import { userStreams } from "../../accounts/sessions/streams.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, overloaded } from "../../platform/core/errors.ts";
import { tokenAllows } from "../../platform/core/http/token-scope.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { activityFeed } from "./feed.ts";
import { activitiesWhere } from "./filters.ts";
import { type FeedEvent, follow } from "./follow.ts";

const RETRY_MS = 1_000;
/** Maximum number of readers per server: each reads the store for every entry. */
const READERS_MAX = 100;

type Query = z.output<typeof activitiesApi.stream.query>;

export async function streamActivities(ctx: Context, { last = 0, once, ...filters }: Query): Promise<StreamedBody> {
  const lastEventId = ctx.headers?.get("last-event-id")?.trim() ?? "";
  if (!/^\d{0,15}$/.test(lastEventId))
    throw badRequest(`Invalid Last-Event-ID: ${lastEventId.slice(0, 100)}`, "Last-Event-ID");
  const where = activitiesWhere(filters);
  if (ctx.running.of(activityFeed).readers >= READERS_MAX)
    throw overloaded(`${READERS_MAX} readers follow activities already`);
  const stop = new AbortController();
  const closed = ctx.running.of(userStreams).open({
    viewer: ctx.user,
    kind: "activities",
    allowed: (user) => maySomewhere(user, "activities:list") && tokenAllows(user, activitiesApi.stream),
    end: () => stop.abort(),
  });
  const events = follow(
    ctx,
    { where, after: lastEventId === "" ? null : Number(lastEventId), last, once },
    stop.signal,
  );
  const encoder = new TextEncoder();
  let begun = false;
  return {
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          // Send headers at once, so that the client knows that it is connected.
          if (!begun) {
            begun = true;
            return controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
          }
          const { value, done } = await events.next();
          if (done) {
            closed();
            return controller.close();
          }
          controller.enqueue(encoder.encode(frame(value)));
        },
        async cancel() {
          closed();
          stop.abort();
          await events.return();
        },
      },
      { highWaterMark: 1 },
    ),
  };
}

// Quiet events carry a position too, so that a reader that resumes does not scan the same entries again.
const frame = (event: FeedEvent): string =>
  event.type === "quiet"
    ? `id: ${event.position}\nevent: quiet\ndata: {}\n\n`
    : `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;
