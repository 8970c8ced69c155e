// Actions on many hosts at once. Each is a task, whose outcome per host is read with GET /tasks/:id/hosts.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, Ids } from "../fields.ts";
import { Approval } from "../hosts/approvals.ts";
import { WipeOptions } from "../hosts/host-actions.ts";
import { SelectionHeaders } from "../hosts/selection.ts";
import { BodyHostFilter } from "./host-filters.ts";

/** The hosts to act on: by ids, all or nothing, or by filters, as far as the caller may act on them. */
export const hostChoice = { ids: Ids.optional(), filters: BodyHostFilter.optional() };

const reason = z.string().trim().max(1000).optional().meta({ description: "recorded with the activity of each host" });

const FewHosts = z.array(z.object({ id: Id, display_name: z.string() })).meta({ description: "the first ten" });

export const SkippedHosts = z.object({ reason: z.string(), count: z.int(), hosts: FewHosts });

export const BulkOutcome = z.object({
  count: z.int().meta({ description: "hosts that are selected" }),
  done: z.int().meta({
    description: "hosts for which it was done, or queued until they are online; of a dry run: for which it would be",
  }),
  hosts: FewHosts.meta({ description: "the first ten of these" }),
  skipped: z.int().meta({ description: "hosts that are left out" }),
  skipped_reasons: z.array(SkippedHosts).meta({ description: "why, the most frequent reason first; at most 50" }),
  task_id: Id.nullable().meta({
    description: "the task that has done it; with status 202 it has not reached all hosts yet. Null: there is none",
  }),
  approval: Approval.optional().meta({
    description: "with status 202: nothing is done until another user approves it",
  }),
});
export type BulkOutcome = z.infer<typeof BulkOutcome>;

/** What the declarations of actions on many hosts have in common. */
export const onHosts = {
  method: "POST" as const,
  headers: SelectionHeaders,
  otherStatus: [202],
  response: BulkOutcome,
};

const access = { action: "hosts:lock", scope: "team" } as const;

const LabelRefs = z
  .array(z.union([z.string().max(1020), Id]))
  .max(1000)
  .default([]);

export const bulkActionsApi = {
  refetch: endpoint({
    ...onHosts,
    path: "/hosts/refetch",
    summary: "Request all details from many hosts at their next check-in; empty filters match all hosts.",
    access: { action: "hosts:refetch", scope: "team" },
    body: z.object(hostChoice),
  }),
  labels: endpoint({
    ...onHosts,
    path: "/hosts/labels",
    summary: "Add many hosts to manual labels, and remove them from others; empty filters match all hosts.",
    access: { action: "hosts:label", scope: "team" },
    body: z.object({
      ...hostChoice,
      add: LabelRefs.meta({ description: "names or ids of manual labels" }),
      remove: LabelRefs.meta({ description: "names or ids of manual labels" }),
    }),
  }),
  lock: endpoint({
    ...onHosts,
    path: "/hosts/lock",
    summary: "Lock many hosts, each as soon as it is online; empty filters match all hosts.",
    tier: "premium",
    access,
    body: z.object({ ...hostChoice, reason }),
  }),
  unlock: endpoint({
    ...onHosts,
    path: "/hosts/unlock",
    summary: "Unlock many hosts, each as soon as it is online; empty filters match all hosts.",
    tier: "premium",
    access,
    body: z.object({ ...hostChoice, reason }),
  }),
  wipe: endpoint({
    ...onHosts,
    path: "/hosts/wipe",
    summary: "Erase many hosts, each as soon as it is online; empty filters match all hosts. This cannot be undone.",
    access,
    body: WipeOptions.extend({ ...hostChoice, reason }),
  }),
};
