// Which hosts may sign in: those that fail no policy of their team that conditional access is turned on for.
import type { HostPolicy } from "../../api/host.ts";
import type { Context } from "../core/context.ts";
import type { HostRow } from "../hosts/access.ts";
import { policiesOfHosts } from "../policies/results.ts";

type Reading = Pick<Context, "store" | "config">;

/** Whether conditional access is turned on for the host's team, or for hosts without one. */
export async function isTurnedOnFor(
  { store, config }: Reading,
  { team_id }: Pick<HostRow, "team_id">,
): Promise<boolean> {
  if (team_id === null) return (await config.current()).integrations.conditional_access_enabled;
  return (await store.teams.get(team_id))?.settings.integrations?.conditional_access_enabled ?? false;
}

/** The policies because of which the host may not sign in. */
export async function blockingPolicies(ctx: Reading, host: HostRow): Promise<HostPolicy[]> {
  if (!(await isTurnedOnFor(ctx, host))) return [];
  return ((await policiesOfHosts(ctx, [host])).get(host.id) ?? []).filter(
    ({ conditional_access_enabled, response, team_id }) =>
      conditional_access_enabled && response === "fail" && team_id !== null,
  );
}
