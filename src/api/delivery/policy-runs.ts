import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, paging, QueryText, Timestamp } from "../fields.ts";
import { Activity } from "../platform/activities.ts";

export const runStatuses = ["success", "error"] as const;

/** What an automation of a policy did on one host: an activity, with the host and its output. */
export const AutomationActivity = Activity.extend({
  host_id: Id,
  host_display_name: z.string(),
  status: z.enum(runStatuses),
  output: z.string().nullable().meta({ description: "of the script or the installation; null for other automations" }),
  pre_install_output: z.string().nullable().meta({ description: "packages only" }),
  post_install_output: z.string().nullable().meta({ description: "packages only" }),
});
export type AutomationActivity = z.infer<typeof AutomationActivity>;

export const LastAutomation = z.object({
  policy_id: Id,
  policy_name: z.string(),
  created_at: Timestamp,
  type: z.string().meta({ description: "type of the activity" }),
  status: z.enum(runStatuses),
  error: z.string().nullable().meta({ description: "why a request to another service failed" }),
});
export type LastAutomation = z.infer<typeof LastAutomation>;

export const policyRunsApi = {
  list: endpoint({
    method: "GET",
    path: "/policies/:id/automation_activities",
    summary: "List what automations of a policy did on hosts in the last 30 days, one row for each host and attempt.",
    access: { action: "policies:list", scope: "team" },
    params: z.object({ id: IdParam }),
    query: paging("created_at").extend({
      query: QueryText.optional().meta({ description: "searches the name of the host" }),
      status: z
        .string()
        .max(20)
        .optional()
        .meta({ enum: [...runStatuses] }),
    }),
    response: z.object({ activities: z.array(AutomationActivity), meta: Meta, count: z.int() }),
  }),
  ofHost: endpoint({
    method: "GET",
    path: "/hosts/:id/last_automations",
    summary: "List the last automation of each policy that ran one on a host.",
    access: { action: "hosts:read", scope: "team" },
    params: z.object({ id: IdParam }),
    response: z.object({ automations: z.array(LastAutomation) }),
  }),
};
