// Decides which hosts may sign in: those that fail no policy of their team that conditional access is turned on for.
// Both providers ask here: the access product at each sign-in (`sign-in.ts`), the directory after changes
// (`compliance/`).
import type { HostPolicy } from "../../../api/hosts/host.ts";
import { policiesOfHosts } from "../../checks/policies/results.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";

type Reading = Pick<Context, "store" | "config">;

export interface Access {
  /** Whether conditional access is turned on for the host's team, or for hosts without one. */
  readonly isOn: boolean;
  /** The policies because of which the host may not sign in. */
  readonly blocking: readonly HostPolicy[];
  /** Whether the host has not answered all policies that could block it. */
  readonly isIncomplete: boolean;
}

const OFF: Access = { isOn: false, blocking: [], isIncomplete: false };

type SignInHost = Pick<HostRow, "id" | "team_id" | "platform" | "platform_like">;

/** What conditional access makes of each of the hosts, by host id. */
export async function accessOf(ctx: Reading, hosts: readonly SignInHost[]): Promise<Map<number, Access>> {
  const on = await turnedOn(
    ctx,
    hosts.map(({ team_id }) => team_id),
  );
  const withAccess = hosts.filter(({ team_id }) => on.has(team_id));
  const policies = await policiesOfHosts(ctx, withAccess);
  const accesses = new Map<number, Access>(hosts.map(({ id }) => [id, OFF]));
  for (const { id } of withAccess) {
    const blockingPolicies = (policies.get(id) ?? []).filter(
      ({ conditional_access_enabled, team_id }) => conditional_access_enabled && team_id !== null,
    );
    accesses.set(id, {
      isOn: true,
      blocking: blockingPolicies.filter(({ response }) => response === "fail"),
      isIncomplete: blockingPolicies.some(({ response }) => response === ""),
    });
  }
  return accesses;
}

/** The teams (null: none) that conditional access is turned on for. */
async function turnedOn(
  { store, config }: Reading,
  teamIds: readonly (number | null)[],
): Promise<ReadonlySet<number | null>> {
  const ids = [...new Set(teamIds.flatMap((id) => id ?? []))];
  const teams = ids.length === 0 ? [] : await store.teams.pick(["id", "settings"], { where: oneOf("id", ids) });
  const on = new Set<number | null>(
    teams.flatMap(({ id, settings }) => (settings.integrations?.conditional_access_enabled ? [id] : [])),
  );
  if (teamIds.includes(null) && (await config.current()).integrations.conditional_access_enabled) on.add(null);
  return on;
}

export const isTurnedOnFor = async (ctx: Reading, { team_id }: Pick<HostRow, "team_id">): Promise<boolean> =>
  (await turnedOn(ctx, [team_id])).has(team_id);

/** The policies because of which the host may not sign in. */
export const blockingPolicies = async (ctx: Reading, host: HostRow): Promise<readonly HostPolicy[]> =>
  (await accessOf(ctx, [host])).get(host.id)!.blocking;
