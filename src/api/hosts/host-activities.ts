import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, IdParam, Meta, paging } from "../fields.ts";
import { Activity } from "../platform/activities.ts";

const { page, per_page } = paging("id").shape;

/** An activity with a `uuid` instead of an `id`, because it has not happened yet. */
export const UpcomingActivity = Activity.omit({ id: true }).extend({ uuid: z.string() });
export type UpcomingActivity = z.infer<typeof UpcomingActivity>;

export const hostActivitiesApi = {
  list: endpoint({
    method: "GET",
    path: "/hosts/:id/activities",
    summary: "List the past activities of a host, newest first.",
    access: { action: "hosts:read_activities", scope: "team" },
    params: z.object({ id: IdParam }),
    query: z.object({ page, per_page }),
    response: z.object({ activities: z.array(Activity), meta: Meta }),
  }),
  upcoming: endpoint({
    method: "GET",
    path: "/hosts/:id/activities/upcoming",
    summary: "List the upcoming activities of a host, in order of execution.",
    access: { action: "hosts:read_activities", scope: "team" },
    params: z.object({ id: IdParam }),
    query: z.object({ page, per_page }),
    response: z.object({ count: z.int(), activities: z.array(UpcomingActivity), meta: Meta }),
  }),
  cancel: endpoint({
    method: "DELETE",
    path: "/hosts/:id/activities/upcoming/:activity_id",
    summary: "Cancel an upcoming activity of a host. A lock or wipe that has started cannot be cancelled.",
    access: { action: "hosts:cancel_activity", scope: "team" },
    status: 204,
    params: z.object({ id: IdParam, activity_id: z.string().min(1).max(255) }),
    response: Empty,
  }),
};
