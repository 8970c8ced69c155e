// Requests by one user that another user has to approve: wipes and bulk deletes, if the server requires it. A request for
// many hosts is about a fixed selection.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, Person, paging, Timestamp } from "../fields.ts";

export const approvalActions = ["delete_hosts", "wipe_host", "wipe_hosts"] as const;
export const approvalStates = ["pending", "approved", "denied", "expired", "done", "failed"] as const;

export const Approval = z.object({
  id: Id,
  created_at: Timestamp,
  expires_at: Timestamp.meta({ description: "it cannot be approved after this time" }),
  action: z.enum(approvalActions),
  state: z.enum(approvalStates).meta({
    description: "approved: it is being executed; failed: it was not executed, see error",
  }),
  requested_by: Person,
  hosts_count: z.int(),
  selection_digest: z.string().meta({ description: "digest of the hosts, as in X-Selection-Digest" }),
  hosts: z.array(z.object({ id: Id, display_name: z.string() })).meta({ description: "the first ten" }),
  filters: z
    .record(z.string(), z.json())
    .nullable()
    .meta({ description: "filters that selected the hosts; null: selected by ids" }),
  decided_by: Person.nullable(),
  decided_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  request_reason: z.string().meta({ description: "why the requester asks for it; empty: no reason was sent" }),
  reason: z.string().meta({ description: "reason of the denial" }),
  error: z.string().meta({ description: "why it failed" }),
  task_id: Id.nullable().meta({ description: "the task that executes an approved delete or wipe of many hosts" }),
  may_decide: z.boolean().meta({ description: "whether the caller may approve or deny it now" }),
});
export type Approval = z.infer<typeof Approval>;

export const ApprovalQuery = paging("id", "created_at", "expires_at").extend({
  state: z.enum(approvalStates).optional(),
});
export type ApprovalQuery = z.output<typeof ApprovalQuery>;

const params = z.object({ id: IdParam });
const response = z.object({ approval: Approval });

export const approvalsApi = {
  list: endpoint({
    method: "GET",
    path: "/approvals",
    summary: "List requests for approval: your own and those that you may decide, newest first.",
    access: "user",
    query: ApprovalQuery,
    response: z.object({ approvals: z.array(Approval), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/approvals/:id",
    summary: "Get a request for approval.",
    access: "user",
    params,
    response,
  }),
  approve: endpoint({
    method: "POST",
    path: "/approvals/:id/approve",
    summary: "Approve another user's request: it is executed immediately, in that user's name.",
    access: { action: "approvals:approve", scope: "team" },
    params,
    otherStatus: [202],
    response,
  }),
  deny: endpoint({
    method: "POST",
    path: "/approvals/:id/deny",
    summary: "Deny another user's request, or withdraw your own.",
    access: "user",
    params,
    body: z.object({ reason: z.string().trim().min(1).max(1000) }),
    response,
  }),
};
