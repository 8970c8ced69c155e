// The hosts on which a label's SQL runs. Labels are global and team users may create them, but their SQL runs only on
// hosts of the teams in which they may create labels.
import { teamsFor } from "../../../api/access.ts";
import { admitKeptSql } from "../../platform/agent-protocol/admit-carving.ts";
import type { Context } from "../../platform/core/context.ts";

/** The teams on whose hosts the query of a label runs if this caller writes it. Null means all hosts. */
export function reachOf({ user }: Pick<Context, "user">): number[] | null {
  if (user.kind !== "user") return null;
  const teams = teamsFor(user, "labels:write");
  return teams === "all" ? null : teams;
}

export const reaches = (teams: readonly number[] | null, teamId: number | null): boolean =>
  teams === null || (teamId !== null && teams.includes(teamId));

/**
 * 403 for SQL that can start file carves, if the caller may not start carves on all of the hosts on which it runs.
 */
export function admitLabelSql(ctx: Pick<Context, "user">, { name, query }: { name: string; query: string }): void {
  const what = `the label ${JSON.stringify(name)}`;
  for (const teamId of reachOf(ctx) ?? [null]) admitKeptSql(ctx, query, teamId, what);
}
