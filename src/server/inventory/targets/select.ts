// Selects the hosts of a live query, and counts the hosts of target lists.

import { queryFor } from "../../checks/queries/access.ts";
import { ALL_HOSTS } from "../../hosts/labels/builtin-labels.ts";
import { labelMembers } from "../../hosts/labels/tables.ts";
import type { Context, Viewer } from "../../platform/core/context.ts";
import { forbidden } from "../../platform/core/errors.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, exists, isNull, nothing, oneOf, or, type Predicate } from "../../platform/store/query.ts";

export interface Selection {
  readonly hosts: readonly number[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
}

export const selectionOf = (input: Partial<Selection> | null | undefined): Selection => ({
  hosts: [...new Set(input?.hosts ?? [])],
  labels: [...new Set(input?.labels ?? [])],
  teams: [...new Set(input?.teams ?? [])],
});

/**
 * The selected hosts, among all hosts. Hosts given by id are always included. Labels and teams must both match, by
 * any one of each kind.
 */
async function picked({ store }: Pick<Context, "store">, { hosts, labels, teams }: Selection): Promise<Predicate> {
  const labelRows = labels.length > 0 ? await store.labels.getMany(labels) : [];
  const builtin = labelRows.filter(({ label_type }) => label_type === "builtin");
  const named = oneOf("id", hosts);
  if (builtin.some(({ name }) => name === ALL_HOSTS)) return everything;
  if (labels.length === 0 && teams.length === 0) return named;
  // A deleted label has no members, so it adds none to those of the other labels.
  if (labels.length > 0 && labelRows.length === 0) return named;
  const regular = labelRows.filter(({ label_type }) => label_type !== "builtin");
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

/** The columns of a saved query that say who may run it. Null: SQL that is not saved. */
type Runs = { readonly observer_can_run: boolean; readonly team_id: number | null } | null;

/**
 * Whether the viewer may run the query on hosts of that team (null: hosts without one). Observers may run only queries
 * that are marked for them, and a team's query only on its own hosts: its author may not be trusted with others.
 */
export function mayRunOn(user: Viewer, query: Runs, teamId: number | null): boolean {
  if (may(user, "queries:run_new", teamId)) return true;
  const isForObservers = query?.observer_can_run && (query.team_id === null || query.team_id === teamId);
  return isForObservers === true && may(user, "queries:run", teamId);
}

/** The hosts on which the caller may run the query. */
export function runnableOn(ctx: Pick<Context, "user">, query: Runs): Predicate {
  const anySql = visible(ctx, "queries:run_new");
  if (!query?.observer_can_run) return anySql;
  const marked = visible(ctx, "queries:run");
  return or(anySql, query.team_id === null ? marked : and(marked, eq("team_id", query.team_id)));
}

/** The selected hosts on which the caller may run the query. To run it (`strict`), named teams must all be permitted. */
export async function targetsFor(
  ctx: Context,
  selection: Selection,
  query: Runs,
  options: { readonly strict: boolean },
): Promise<Predicate> {
  if (options.strict)
    for (const id of selection.teams) if (!mayRunOn(ctx.user, query, id === 0 ? null : id)) throw forbidden();
  return and(runnableOn(ctx, query), await picked(ctx, selection));
}

/** The query of a target list; null if it names none. */
export const queryOfTargets = async (ctx: Context, queryId: number | null | undefined): Promise<Runs> =>
  queryId ? queryFor(ctx, "queries:list", queryId) : null;
