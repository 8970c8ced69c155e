import { bool, id, ref, table, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly policyMailStates: typeof policyMailStates;
  }
}

/** When the last mails about failing policies of a team were queued. */
export const policyMailStates = table(
  "policy_mail_states",
  {
    id: id(),
    /** False: the global policies. */
    is_of_team: bool(),
    /** Null with `is_of_team`: hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    sent_at: time(),
  },
  { unique: [["is_of_team", "team_id"]] },
);
