// Selects the hosts of a live query, and counts the hosts of target lists (part C, target rules).
import type { Action } from "../../api/access.ts";
import type { Context } from "../core/context.ts";
import { authorize, visible } from "../core/security/access.ts";
import { ALL_HOSTS } from "../labels/builtin-labels.ts";
import { labelMembers } from "../labels/tables.ts";
import { queryFor } from "../queries/access.ts";
import { and, everything, exists, isNull, nothing, oneOf, or, type Predicate } from "../store/query.ts";

export interface Selection {
  readonly hosts: readonly number[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
}

export const selectionOf = (given: Partial<Selection> | null | undefined): Selection => ({
  hosts: [...new Set(given?.hosts ?? [])],
  labels: [...new Set(given?.labels ?? [])],
  teams: [...new Set(given?.teams ?? [])],
});

/**
 * The selected hosts, among all hosts. Hosts given by id are always included. Labels and teams must both match, by
 * any one of each kind.
 */
export async function picked(
  { store }: Pick<Context, "store">,
  { hosts, labels, teams }: Selection,
): Promise<Predicate> {
  const found = labels.length > 0 ? await store.labels.getMany(labels) : [];
  const builtin = found.filter(({ label_type }) => label_type === "builtin");
  const named = oneOf("id", hosts);
  if (builtin.some(({ name }) => name === ALL_HOSTS)) return everything;
  if (labels.length === 0 && teams.length === 0) return named;
  // A deleted label has no members, so it adds none to those of the other labels.
  if (labels.length > 0 && found.length === 0) return named;
  const regular = found.filter(({ label_type }) => label_type !== "builtin");
  return or(named, and(inAny(builtin), inAny(regular), ofTeams(teams)));
}

const inAny = (labels: readonly { id: number }[]): Predicate =>
  labels.length === 0
    ? everything
    : exists(
        labelMembers,
        "host_id",
        oneOf(
          "label_id",
          labels.map(({ id }) => id),
        ),
      );

const ofTeams = (teams: readonly number[]): Predicate =>
  teams.length === 0
    ? everything
    : or(
        teams.includes(0) ? isNull("team_id") : nothing,
        oneOf(
          "team_id",
          teams.filter((id) => id !== 0),
        ),
      );

/**
 * The permission that the caller needs on a host to run this query. Observers may run only queries that are marked
 * for them.
 */
export const actionFor = (query: { readonly observer_can_run: boolean } | null): Action =>
  query?.observer_can_run ? "queries:run" : "queries:run_new";

/**
 * The selected hosts on which the caller may run the query of that id (without one: any query). To run, named teams
 * must all be permitted.
 */
export async function targetsFor(
  ctx: Context,
  selection: Selection,
  action: Action,
  options: { readonly strict: boolean },
): Promise<Predicate> {
  if (options.strict) for (const id of selection.teams) authorize(ctx, action, id === 0 ? null : id);
  return and(visible(ctx, action), await picked(ctx, selection));
}

/**
 * The permission for target lists. For a query that observers may run, hosts that the caller only observes are
 * included.
 */
export async function actionOfQuery(ctx: Context, queryId: number | null | undefined): Promise<Action> {
  return actionFor(queryId ? await queryFor(ctx, "queries:list", queryId) : null);
}
