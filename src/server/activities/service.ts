import type { z } from "zod";
import type { Activity, activitiesApi } from "../../api/activities.ts";
import type { Context } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { cursorPage, page } from "../core/paging.ts";
import { and, eq, everything, gt, lt, search } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { activities } from "./tables.ts";

type Query = z.output<typeof activitiesApi.list.query>;

export async function listActivities({ store }: Context, query: Query) {
  const start = instant("start_created_at", query.start_created_at);
  const end = instant("end_created_at", query.end_created_at);
  const where = and(
    query.query ? search(["actor_full_name", "actor_email"], query.query) : everything,
    query.activity_type ? eq("type", query.activity_type) : everything,
    start === null ? everything : gt("created_at", start),
    end === null ? everything : lt("created_at", end),
  );
  const list = query.cursor === undefined ? page : cursorPage;
  const { rows, meta } = await list(store.activities, query, where);
  const total = query.with_count ? await store.activities.count(where) : null;
  return { reply: { activities: rows.map(activityOf), meta }, total };
}

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;

/** A date, or a date and time; UTC where no offset is given. */
function instant(name: string, given: string | undefined): string | null {
  if (given === undefined || given === "") return null;
  // A plus sign that was not encoded arrives as a blank.
  const text = given
    .trim()
    .replace(/ (\d\d:?\d\d)$/, (found, offset: string) => (/T\d\d:\d\d/i.test(given) ? `+${offset}` : found));
  const zoned = /T| \d/i.test(text) && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text;
  const at = ISO.test(text) ? Date.parse(zoned.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(at)) throw badRequest(`Invalid ${name}: ${given}`, name);
  return new Date(at).toISOString();
}

export function activityOf(row: RowOf<typeof activities>): Activity {
  const { id, created_at, type, svc_initiated, details } = row;
  const actor = {
    ...(row.actor_full_name === null ? {} : { actor_full_name: row.actor_full_name }),
    ...(row.actor_id === null ? {} : { actor_id: row.actor_id }),
    ...(row.actor_email === null ? {} : { actor_email: row.actor_email }),
    ...(row.actor_gravatar === null ? {} : { actor_gravatar: row.actor_gravatar }),
    ...(row.actor_api_only === null ? {} : { actor_api_only: row.actor_api_only }),
  };
  return {
    id,
    created_at,
    ...(svc_initiated ? {} : actor),
    type,
    svc_initiated,
    details: details as Activity["details"],
  };
}
