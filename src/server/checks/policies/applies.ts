// Decides which hosts a policy applies to: by team, platform and labels.

import type { LabelScope } from "../../hosts/labels/scope.ts";
import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { policies } from "./tables.ts";

export type PolicyRow = RowOf<typeof policies>;
export type Place = Pick<PolicyRow, "scope" | "team_id">;

/** The scope for a `team_id` of the API: null is global, 0 is hosts without a team. */
export const placeOf = (teamId: number | null): Place =>
  teamId === null
    ? { scope: "global", team_id: null }
    : teamId === 0
      ? { scope: "no_team", team_id: null }
      : { scope: "team", team_id: teamId };

export const teamIdOf = ({ scope, team_id }: Place): number | null => (scope === "no_team" ? 0 : team_id);

export const inPlace = ({ scope, team_id }: Place): Predicate =>
  scope === "team" ? eq("team_id", team_id) : eq("scope", scope);

/** Global policies and those of the given teams (null: hosts without a team). */
export const ofHostsIn = (teamIds: Iterable<number | null>): Predicate => {
  const teams = [...new Set(teamIds)];
  return or(
    eq("scope", "global"),
    oneOf(
      "team_id",
      teams.filter((id) => id !== null),
    ),
    ...(teams.includes(null) ? [eq("scope", "no_team")] : []),
  );
};

export const isOfTeam = ({ scope, team_id }: Place, teamId: number | null): boolean =>
  scope === "global" || (teamId === null ? scope === "no_team" : team_id === teamId);

/** `platform` is the policy's comma-separated list. A host of any Linux distribution also matches `linux`. */
export function isOnPlatform(list: string, platform: string, platformLike: string): boolean {
  if (list === "") return true;
  if (platform === "") return false;
  const family = platformFamily(platform, platformLike);
  return list.split(",").some((word) => word === platform || word === family);
}

/** By policy id; only policies that are restricted by labels. */
export async function labelScopes(
  store: Pick<ServerTx, "policyLabels">,
  policyIds?: readonly number[],
): Promise<Map<number, PolicyScope>> {
  const rows = await store.policyLabels.list(policyIds ? { where: oneOf("policy_id", policyIds) } : {});
  const scopes = new Map<number, PolicyScope>();
  for (const { policy_id, label_id, excludes, requires_all } of rows) {
    const scope = scopes.get(policy_id) ?? { include_any: [], include_all: [], exclude_any: [] };
    scopes.set(policy_id, scope);
    scope[excludes ? "exclude_any" : requires_all ? "include_all" : "include_any"].push(label_id);
  }
  return scopes;
}

/** Label ids by rule. A policy uses at most one of the lists. */
export type PolicyScope = LabelScope & Record<LabelRule, number[]>;

/** The label ids of each host, by host id. */
export async function labelsByHost(
  store: Pick<ServerTx, "labelMembers">,
  hostIds: readonly number[],
): Promise<Map<number, Set<number>>> {
  const members = await store.labelMembers.pick(["label_id", "host_id"], { where: oneOf("host_id", hostIds) });
  const labels = new Map<number, Set<number>>(hostIds.map((id) => [id, new Set()]));
  for (const { host_id, label_id } of members) labels.get(host_id)?.add(label_id);
  return labels;
}
