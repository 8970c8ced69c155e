// The sort orders of host lists.

import { hostPolicies } from "../../checks/policies/tables.ts";
import { hostSeen } from "../../hosts/hosts/tables.ts";
import { orderOf, type PageOptions, type PageQuery } from "../../platform/core/http/paging.ts";
import { and, exists, gt, not, type OrderTerm, type Predicate } from "../../platform/store/query.ts";
import { teams } from "../../settings/teams/tables.ts";

/** Order keys that are columns of other tables. */
export const orderBy: PageOptions["orderBy"] = (key, direction) => {
  if (key === "seen_time") return { column: "seen_time", direction, of: hostSeen, on: "id" };
  if (key === "team_name") return { column: "name", direction, of: teams, on: "team_id" };
  if (key === "issues") return { column: "issues_count", direction, of: hostPolicies, on: "id" };
  const dot = key.indexOf(".");
  return dot === -1 ? undefined : { column: key.slice(dot + 1), direction };
};

/** Consecutive hosts of a list that have a sort order of their own. */
export interface Stretch {
  readonly where: Predicate;
  readonly order: readonly OrderTerm[];
}

const withIssues = exists(hostPolicies, "id", gt("issues_count", 0));

/**
 * A list is one stretch, except when it is ordered by issues. Most hosts have no issues, and many have no row that
 * records that, so these hosts form a stretch of their own, ordered by id, before or after the others.
 */
export function stretchesOf(query: PageQuery, where: Predicate): readonly Stretch[] {
  if (query.order_key !== "issues") return [{ where, order: orderOf(query, { orderBy }) }];
  const direction = query.order_direction ?? "asc";
  const affected = { where: and(where, withIssues), order: orderOf(query, { orderBy }) };
  const none: Stretch = { where: and(where, not(withIssues)), order: [{ column: "id", direction }] };
  return direction === "asc" ? [none, affected] : [affected, none];
}
