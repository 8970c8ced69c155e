import type { approvalActions, approvalStates } from "../../api/approvals.ts";
import type { BodyHostFilter } from "../../api/host-filters.ts";
import { id, idOf, int, json, packed, ref, table, text, time } from "../store/table.ts";

export type ApprovalAction = (typeof approvalActions)[number];
/** Without an end in its row, a pending one that is past `expires_at` is expired all the same. */
export type ApprovalState = (typeof approvalStates)[number];

/** What picks the hosts. */
export interface Asked {
  readonly ids?: readonly number[];
  readonly filters?: BodyHostFilter;
}

export const approvals = table(
  "approvals",
  {
    id: id(),
    created_at: time().index(),
    expires_at: time().index(),
    action: text<ApprovalAction>(),
    state: text<ApprovalState>().default("pending").index(),
    /** Null: the user is gone; the name and the address are as they were. */
    requested_by: ref("users").nullable(),
    requester_name: text(),
    requester_email: text(),
    filters: json<BodyHostFilter>().nullable(),
    hosts_count: int(),
    digest: text(),
    /** The first of the hosts, for whoever looks at it. */
    first_hosts: json<readonly { id: number; display_name: string }[]>(),
    decided_by: ref("users").nullable(),
    decider_name: text().default(""),
    decider_email: text().default(""),
    decided_at: time().nullable(),
    finished_at: time().nullable().index(),
    reason: text().default(""),
    error: text().default(""),
    /** Ids that were dealt with so far, of those that are chosen. */
    progress: int().default(0),
    /** Who carries it out, a name made up for that, and until when the others leave it alone. */
    runner: text().default(""),
    runner_until: time().nullable().index(),
  },
  { indexes: [["requested_by", "state"]] },
);

/** What picks the hosts, as long as it may still be done; from the approval on by ids. Apart, as it may hold very many. */
export const approvalChoices = table("approval_choices", { id: idOf("approvals"), asked: packed<Asked>() });

/** The teams whose hosts are concerned; 0 is no team. No reference: a team that goes must not open it to others. */
export const approvalTeams = table(
  "approval_teams",
  { id: id(), approval_id: ref("approvals"), team_id: int() },
  { unique: [["approval_id", "team_id"]] },
);

/** What users did of what there is a budget for, by the minute. */
export const dangerUses = table(
  "danger_uses",
  {
    id: id(),
    user_id: ref("users"),
    action: text<"wipe" | "delete">(),
    /** The beginning of the minute. */
    minute: time().index(),
    hosts: int(),
  },
  { unique: [["user_id", "action", "minute"]] },
);
