// Activities of one host: past ones from the feed, and upcoming ones.
import type { z } from "zod";
import type { hostActivitiesApi } from "../../../api/hosts/host-activities.ts";
import type { Context } from "../../platform/core/context.ts";
import { page, pageOfArray } from "../../platform/core/http/paging.ts";
import { eq } from "../../platform/store/query.ts";
import { hostFor } from "../hosts/access.ts";
import { cancelOperation, upcomingOf } from "../operations/upcoming.ts";
import { activityOf } from "./service.ts";

type Query = z.output<typeof hostActivitiesApi.list.query>;

export async function listHostActivities(ctx: Context, hostId: number, query: Query) {
  const host = await hostFor(ctx, "hosts:read_activities", hostId);
  const { rows, meta } = await page(ctx.store.activities, query, eq("host_id", host.id), {
    defaultOrder: [{ column: "id", direction: "desc" }],
  });
  return { activities: rows.map(activityOf), meta };
}

export async function listUpcoming(ctx: Context, hostId: number, query: Query) {
  const host = await hostFor(ctx, "hosts:read_activities", hostId);
  const all = await upcomingOf(ctx, host);
  const { items, meta } = pageOfArray(all, query);
  return { count: all.length, activities: items, meta };
}

export async function cancelUpcoming(ctx: Context, hostId: number, activityId: string): Promise<void> {
  await cancelOperation(ctx, await hostFor(ctx, "hosts:cancel_activity", hostId), activityId);
}
