import { id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly queryErrors: typeof queryErrors;
  }
}

/** Why hosts could not run a policy, a label or a scheduled query: exactly one of these is set. */
export const queryErrors = table(
  "query_errors",
  {
    id: id(),
    host_id: ref("hosts"),
    policy_id: ref("policies").nullable().onDelete("cascade").index(),
    label_id: ref("labels").nullable().onDelete("cascade").index(),
    query_id: ref("queries").nullable().onDelete("cascade").index(),
    /** The message of the host's agent. */
    message: text(),
    /** Since when the agent reports this message. */
    at: time(),
  },
  { unique: [["host_id", "policy_id", "label_id", "query_id"]] },
);
