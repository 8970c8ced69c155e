import type { Action } from "../../../api/access.ts";
import type { Pin } from "../../../api/edge/configuration.ts";
import { id, idOf, int, packed, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";
import type { StoredChange } from "./stored.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly plans: typeof plans;
    readonly planContents: typeof planContents;
    readonly planScopes: typeof planScopes;
  }
}

/** A pending plan past `expires_at` counts as expired until the job deletes it. */
export const plans = table(
  "plans",
  {
    id: id(),
    created_at: time(),
    expires_at: time().index(),
    name: text(),
    state: text<"pending" | "applied">().default("pending"),
    /** Null if the user was deleted. Name and address are kept as they were. */
    author_id: ref("users").nullable(),
    author_name: text(),
    author_email: text(),
    applied_at: time().nullable(),
    applier_id: ref("users").nullable(),
    applier_name: text().default(""),
    applier_email: text().default(""),
    digest: text(),
    creates: int(),
    updates: int(),
    deletes: int(),
  },
  { indexes: [["author_id", "state"]] },
);

export type PlanRow = RowOf<typeof plans>;

/** A table of its own, as it may be large. */
export const planContents = table("plan_contents", {
  id: idOf("plans"),
  /** The request that applies the plan, as JSON: its values may contain secrets. */
  request: text().secret(),
  pins: packed<readonly Pin[]>(),
  changes: packed<readonly StoredChange[]>(),
});

/**
 * What somebody needs to be allowed to read a plan. The team is 0 for objects of all teams or of none. It is no
 * reference: deleting a team must not show the plan to others.
 */
export const planScopes = table(
  "plan_scopes",
  { id: id(), plan_id: ref("plans"), action: text<Action>(), team_id: int() },
  { unique: [["plan_id", "action", "team_id"]] },
);
