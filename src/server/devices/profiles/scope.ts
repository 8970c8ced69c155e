// The hosts that a profile is for: those of its team and platform, limited by labels.

import { scopePredicate } from "../../hosts/labels/scope.ts";
import { isBroken, scopeOf } from "../../hosts/labels/targeting.ts";
import type { Context } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, isNull, not, nothing, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { type ProfileRow, platformOf } from "./platform.ts";
import type { profileLabels } from "./tables.ts";

export type ProfileLabel = RowOf<typeof profileLabels>;

export async function labelsOfProfiles(
  store: Pick<ServerTx, "profileLabels">,
  profileIds: readonly number[],
): Promise<ReadonlyMap<number, ProfileLabel[]>> {
  if (profileIds.length === 0) return new Map();
  return groupBy(
    await store.profileLabels.list({ where: oneOf("profile_id", profileIds) }),
    ({ profile_id }) => profile_id,
  );
}

type ProfilePlace = Pick<ProfileRow, "team_id" | "platform" | "host_platform">;

/** Hosts of the profile's team that could get it, whatever their labels. */
const hostsInReach = (
  ctx: Pick<Context, "extensions">,
  { team_id, platform, host_platform }: ProfilePlace,
): Predicate =>
  and(
    platformOf(ctx, platform).hosts,
    inTeam(team_id ?? 0),
    host_platform === null ? everything : eq("platform", host_platform),
  );

/** Hosts that are to get the profile if they do not have it. */
export function hostsToGetIt(
  ctx: Pick<Context, "extensions">,
  profile: ProfilePlace,
  labels: readonly ProfileLabel[],
): Predicate {
  if (isBroken(labels)) return nothing;
  const scope = scopeOf(labels);
  // A host that has not reported its labels yet may have one that excludes it.
  const isKnown = scope.exclude_any.length === 0 ? [] : [not(isNull("label_updated_at"))];
  return and(hostsInReach(ctx, profile), scopePredicate(scope), ...isKnown);
}

/** Hosts that keep the profile if they have it. After one of its labels was deleted, that is every host in reach. */
export const hostsToKeepIt = (
  ctx: Pick<Context, "extensions">,
  profile: ProfilePlace,
  labels: readonly ProfileLabel[],
): Predicate => (isBroken(labels) ? hostsInReach(ctx, profile) : hostsToGetIt(ctx, profile, labels));
