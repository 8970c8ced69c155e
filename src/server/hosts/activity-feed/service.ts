import type { z } from "zod";
import { ACTIVITIES_MAX, type Activity, type activitiesApi } from "../../../api/platform/activities.ts";
import type { ActivityRow } from "../../platform/activities/chain.ts";
import type { Context } from "../../platform/core/context.ts";
import { cursorPage, DEFAULT_PER_PAGE, page } from "../../platform/core/http/paging.ts";
import { and, eq } from "../../platform/store/query.ts";
import { activitiesWhere, searchedPart } from "./filters.ts";

type Query = z.output<typeof activitiesApi.list.query>;

export async function listActivities(ctx: Context, query: Query) {
  const { store } = ctx;
  const where = and(activitiesWhere(query), await searchedPart(ctx, query), eq("host_only", false));
  const whole = query.page === undefined && query.cursor === undefined;
  const per_page = query.per_page ?? (whole ? ACTIVITIES_MAX : DEFAULT_PER_PAGE);
  const paged = { ...query, per_page };
  const { rows, meta } =
    query.cursor === undefined
      ? await page(store.activities, paged, where, { defaultOrder: [{ column: "created_at", direction: "asc" }] })
      : await cursorPage(store.activities, paged, where);
  const total = query.with_count ? await store.activities.count(where) : null;
  return { reply: { activities: rows.map(sourcedActivity), meta }, total };
}

export function activityOf(row: ActivityRow): Activity {
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

/** With the origin of the call; only for readers of the whole feed, not for users of a team. */
export const sourcedActivity = (row: ActivityRow): Activity => ({
  ...activityOf(row),
  ...(row.actor_address === null ? {} : { actor_address: row.actor_address }),
  ...(row.actor_token === null ? {} : { actor_token: row.actor_token }),
});
