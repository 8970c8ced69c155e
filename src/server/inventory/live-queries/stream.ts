// A live query as server-sent events (WHATWG HTML, 9.2). Resumable by the number of the last result read.
import type { StreamedBody } from "../../../api/bodies.ts";
import { liveQueriesApi } from "../../../api/inventory/live-queries.ts";
import { userStreams } from "../../accounts/sessions/streams.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { tokenAllows } from "../../platform/core/http/token-scope.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { follow, type LiveEvent } from "./follow.ts";
import { ownCampaign } from "./service.ts";

const RETRY_MS = 1_000;

export async function streamLiveQuery(ctx: Context, id: number): Promise<StreamedBody> {
  const row = await ownCampaign(ctx, id);
  const last = ctx.headers?.get("last-event-id")?.trim() ?? "";
  // An id above the last result belongs to another query; resuming after it would skip results.
  if (!/^\d{0,15}$/.test(last) || Number(last) > row.last_seq)
    throw badRequest(`Invalid Last-Event-ID: ${last.slice(0, 100)}`, "Last-Event-ID");
  const stop = new AbortController();
  const closed = ctx.running.of(userStreams).open({
    viewer: ctx.user,
    kind: "live queries",
    allowed: (user) => maySomewhere(user, "queries:run") && tokenAllows(user, liveQueriesApi.stream),
    end: () => stop.abort(),
  });
  const events = follow(ctx, row.id, { after: Number(last), signal: stop.signal });
  const encoder = new TextEncoder();
  let begun = false;
  return {
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value, done } = await events.next();
          if (done) {
            closed();
            return controller.close();
          }
          const start = begun ? "" : `retry: ${RETRY_MS}\n\n`;
          begun = true;
          controller.enqueue(encoder.encode(start + frame(value)));
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

const frame = (event: LiveEvent): string =>
  event.type === "quiet" ? ":\n\n" : `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;
