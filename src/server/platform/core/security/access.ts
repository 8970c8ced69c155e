// Authorization: whether the viewer may do an action on objects of a team. The rules are in src/api/access.ts.
import { type Action, allows, allowsSomewhere, teamsFor } from "../../../../api/access.ts";
import { everything, isNull, nothing, oneOf, type Predicate } from "../../store/query.ts";
import type { Context, Viewer } from "../context.ts";
import { forbidden } from "../errors.ts";

export const may = (user: Viewer, action: Action, teamId: number | null): boolean =>
  user.kind === "service" || (user.kind === "user" && allows(user, action, teamId));

export const maySomewhere = (user: Viewer, action: Action): boolean =>
  user.kind === "service" || (user.kind === "user" && allowsSomewhere(user, action));

/**
 * Whether the viewer may list objects of all teams together, such as inherited policies and queries: global users, and
 * users of teams except those who only apply files.
 */
export const mayListGlobal = (user: Viewer, action: Action): boolean =>
  may(user, action, null) ||
  (user.kind === "user" && user.teams.some(({ id, role }) => role !== "gitops" && may(user, action, id)));

/**
 * Throws 403 unless the viewer may do the action on objects of that team. Null: objects without a team, or of all
 * teams.
 */
export function authorize(ctx: Pick<Context, "user">, action: Action, teamId: number | null): void {
  if (!may(ctx.user, action, teamId)) throw forbidden();
}

/**
 * Matches the rows that the viewer may do the action on. Every list and bulk change of team-owned rows is limited by
 * it.
 */
export function visible(ctx: Pick<Context, "user">, action: Action, column = "team_id"): Predicate {
  if (ctx.user.kind === "service") return everything;
  if (ctx.user.kind === "nobody") return nothing;
  const teams = teamsFor(ctx.user, action);
  return teams === "all" ? everything : oneOf(column, teams);
}

/** The predicate for a `team_id` parameter: 0 means no team, undefined means every team. */
export const inTeam = (teamId: number | undefined, column = "team_id"): Predicate =>
  teamId === undefined ? everything : teamId === 0 ? isNull(column) : oneOf(column, [teamId]);
