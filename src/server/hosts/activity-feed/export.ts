// Exports activities as a file, streamed page by page, so that memory use does not depend on their number.
import type { z } from "zod";
import type { StreamedBody } from "../../../api/bodies.ts";
import type { Activity, activitiesApi } from "../../../api/platform/activities.ts";
import { csvText } from "../../../text/csv.ts";
import type { ActivityRow } from "../../platform/activities/chain.ts";
import type { Context } from "../../platform/core/context.ts";
import { bytesOf } from "../../platform/core/http/text-stream.ts";
import { activitiesWhere } from "./filters.ts";
import { sourcedActivity } from "./service.ts";

/** Entries rendered before yielding to the event loop. */
const BATCH_SIZE = 100;

const columns = [
  "id",
  "created_at",
  "type",
  "actor_full_name",
  "actor_email",
  "actor_id",
  "actor_api_only",
  "actor_address",
  "actor_token",
  "svc_initiated",
  "details",
] as const satisfies readonly (keyof Activity)[];

type Query = z.output<typeof activitiesApi.export.query>;

export function exportActivities(ctx: Context, { format, ...filters }: Query): StreamedBody {
  const where = activitiesWhere(filters);
  const text = format === "csv" ? csvOf : ndjsonOf;

  async function* parts(): AsyncGenerator<string> {
    if (format === "csv") yield csvText([[...columns]]);
    for await (const rows of ctx.store.activities.pages({ where }, BATCH_SIZE)) yield text(rows);
  }
  const day = ctx.clock.iso().slice(0, 10);
  return {
    body: bytesOf(ctx, parts(), "the export of activities"),
    headers: { "content-type": format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson" },
    name: `activities-${day}.${format}`,
  };
}

const ndjsonOf = (rows: readonly ActivityRow[]): string =>
  rows.map((row) => `${JSON.stringify(sourcedActivity(row))}\n`).join("");

const csvOf = (rows: readonly ActivityRow[]): string =>
  csvText(
    rows.map((row) => {
      const activity = sourcedActivity(row);
      return columns.map((column) =>
        column === "details" && activity.details !== null ? JSON.stringify(activity.details) : activity[column],
      );
    }),
  );
