import type { approvalActions, approvalStates } from "../../../api/hosts/approvals.ts";
import type { WindowsWipeType } from "../../../api/hosts/host-actions.ts";
import type { BodyHostFilter } from "../../../api/inventory/host-filters.ts";
import { id, idOf, int, json, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly approvals: typeof approvals;
    readonly approvalChoices: typeof approvalChoices;
    readonly approvalTeams: typeof approvalTeams;
    readonly dangerUses: typeof dangerUses;
  }
}

export type ApprovalAction = (typeof approvalActions)[number];
/** A pending request past `expires_at` counts as expired, even before its row is updated. */
export type ApprovalState = (typeof approvalStates)[number];

/** The selection of the hosts. */
export interface ApprovalSelection {
  readonly ids?: readonly number[];
  readonly filters?: BodyHostFilter;
  /** How a Windows host is wiped. */
  readonly wipe_type?: WindowsWipeType;
  /** Why the requester wants it. */
  readonly reason?: string;
}

export const approvals = table(
  "approvals",
  {
    id: id(),
    created_at: time().index(),
    expires_at: time().index(),
    action: text<ApprovalAction>(),
    state: text<ApprovalState>().default("pending").index(),
    /** Null if the user was deleted. Name and address are kept as they were. */
    requested_by: ref("users").nullable(),
    requester_name: text(),
    requester_email: text(),
    filters: json<BodyHostFilter>().nullable(),
    hosts_count: int(),
    digest: text(),
    /** The first of the hosts, for display. */
    first_hosts: json<readonly { id: number; display_name: string }[]>(),
    decided_by: ref("users").nullable(),
    decider_name: text().default(""),
    decider_email: text().default(""),
    decided_at: time().nullable(),
    finished_at: time().nullable().index(),
    /** Why the requester wants it. */
    request_reason: text().default(""),
    /** Why it was denied. */
    reason: text().default(""),
    error: text().default(""),
    /** The task that executes an approved action on many hosts. */
    task_id: ref("tasks").nullable(),
  },
  { indexes: [["requested_by", "state"]] },
);

/**
 * The selection of the hosts, kept until the action is done. From the approval on it is a list of ids. A table of its
 * own, as it may be large.
 */
export const approvalChoices = table("approval_choices", { id: idOf("approvals"), asked: packed<ApprovalSelection>() });

/**
 * The teams of the hosts; 0 is no team. Not a reference, because deleting a team must not make the request visible to
 * others.
 */
export const approvalTeams = table(
  "approval_teams",
  { id: id(), approval_id: ref("approvals"), team_id: int() },
  { unique: [["approval_id", "team_id"]] },
);

/** The number of hosts that users wiped or deleted, per minute. */
export const dangerUses = table(
  "danger_uses",
  {
    id: id(),
    user_id: ref("users"),
    action: text<"wipe" | "delete">(),
    /** The start of the minute. */
    minute: time().index(),
    hosts: int(),
  },
  { unique: [["user_id", "action", "minute"]] },
);
