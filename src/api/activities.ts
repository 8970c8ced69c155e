import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { CursorMeta, cursorQuery, Id, paging, QueryText, Timestamp } from "./fields.ts";

export const Activity = z.object({
  id: Id,
  created_at: Timestamp,
  actor_full_name: z.string().optional(),
  actor_id: Id.optional(),
  actor_email: z.string().optional(),
  actor_gravatar: z.string().optional(),
  actor_api_only: z.boolean().optional(),
  type: z.string(),
  svc_initiated: z.boolean(),
  details: z.record(z.string(), z.json()).nullable(),
});
export type Activity = z.infer<typeof Activity>;

export const activitiesApi = {
  list: endpoint({
    method: "GET",
    path: "/activities",
    summary: "List what was done, by whom.",
    access: { action: "activities:list", scope: "global" },
    query: paging(
      "id",
      "created_at",
      "type",
      "actor_id",
      "actor_full_name",
      "actor_email",
      "actor_gravatar",
      "actor_api_only",
      "svc_initiated",
    ).extend({
      query: QueryText.optional().meta({ description: "searches actor_full_name and actor_email" }),
      activity_type: z.string().max(255).optional(),
      start_created_at: z.string().max(64).optional().meta({ description: "only activities after this time" }),
      end_created_at: z.string().max(64).optional().meta({ description: "only activities before this time" }),
      ...cursorQuery,
    }),
    response: z.object({ activities: z.array(Activity), meta: CursorMeta }),
  }),
};
