import { bool, id, int, json, ref, table, text, time } from "../store/table.ts";

export const activities = table("activities", {
  id: id(),
  created_at: time().index(),
  actor_id: ref("users").nullable(),
  actor_full_name: text().nullable().search(),
  actor_email: text().nullable().search(),
  actor_gravatar: text().nullable(),
  actor_api_only: bool().nullable(),
  type: text().index(),
  svc_initiated: bool().default(false),
  details: json<Record<string, unknown>>().nullable(),
  /** Set for what shows in a host's own list. Not a reference: the entry outlives the host. */
  host_id: int().nullable().index(),
});
