// Counts hosts by the status of their settings, and the profiles of one host.
import type { ProfileStatus } from "../../../api/profiles.ts";
import { sharing } from "../../core/concurrency/sharing.ts";
import type { Context } from "../../core/context.ts";
import { inTeam } from "../../core/security/access.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../disk-encryption/tables.ts";
import { hostNames } from "../../host-names/tables.ts";
import { recoveryLocks } from "../../host-passwords/tables.ts";
import { hostFor } from "../../hosts/access.ts";
import { and, eq, exists, not, oneOf, or, type Predicate } from "../../store/query.ts";
import { requireAnyMdm } from "../gate.ts";
import { profileFor, teamFor } from "./access.ts";
import { worstFirst } from "./host-rows.ts";
import { hostSettings } from "./tables.ts";
import { profilesOnWire } from "./wire.ts";

/** Recovery locks count as one more setting, and so do names by a template and disk encryption. Steps that are still to be done are pending. */
const encryptionAs: Record<ProfileStatus, readonly DiskEncryptionStatus[]> = {
  verified: ["verified"],
  verifying: ["verifying"],
  pending: ["action_required", "enforcing", "removing_enforcement"],
  failed: ["failed"],
};

/** Hosts with one of these statuses, by each kind of setting. */
const settingsWith = (statuses: readonly ProfileStatus[]): readonly Predicate[] => [
  exists(hostSettings, "id", oneOf("status", statuses)),
  exists(recoveryLocks, "id", oneOf("status", statuses)),
  exists(hostNames, "id", oneOf("status", statuses)),
  exists(
    hostDiskEncryption,
    "id",
    oneOf(
      "status",
      statuses.flatMap((status) => encryptionAs[status]),
    ),
  ),
];

const anySetting = (statuses: readonly ProfileStatus[]): Predicate => or(...settingsWith(statuses));

/** Hosts whose settings have this status: the worst one of any of them. */
export function settingsAre(status: ProfileStatus): Predicate {
  const worse = worstFirst.slice(0, worstFirst.indexOf(status));
  const are = anySetting([status]);
  return worse.length === 0 ? are : and(are, not(anySetting(worse)));
}

type Counts = Record<ProfileStatus, number>;

export async function settingsSummary(ctx: Context, query: { team_id?: number | undefined }): Promise<Counts> {
  const { team_id } = await teamFor(ctx, "mdm:read", query.team_id);
  const own = inTeam(team_id ?? 0);
  return ctx.running.of(sharing).run(JSON.stringify(["profiles summary", team_id]), async () => {
    const count = (...where: readonly Predicate[]) => ctx.store.hosts.count(and(own, ...where));
    const [failed, pending, verifying, all, without] = await Promise.all([
      count(settingsAre("failed")),
      count(settingsAre("pending")),
      count(settingsAre("verifying")),
      count(),
      count(...settingsWith(worstFirst).map(not)),
    ]);
    // Most hosts with settings are verified: to count them by that, Postgres would compare all rows of all settings. The
    // counts may be some milliseconds apart.
    return { failed, pending, verifying, verified: Math.max(0, all - without - failed - pending - verifying) };
  });
}

export async function statusOfProfile(ctx: Context, uuid: string): Promise<Counts> {
  const profile = await profileFor(ctx, "profiles:read", uuid);
  await requireAnyMdm(ctx);
  const counts: Counts = { verified: 0, verifying: 0, failed: 0, pending: 0 };
  for (const { value, count } of await ctx.store.hostProfiles.groupCount("status", eq("profile_uuid", profile.uuid)))
    counts[(value ?? "pending") as ProfileStatus] += count;
  return counts;
}

/** The profiles of the host's team that it has or is about to get. Hosts that are not managed have none. */
export async function profilesOfHost(ctx: Context, id: number) {
  const host = await hostFor(ctx, "profiles:read", id);
  const rows = await ctx.store.hostProfiles.list({
    where: and(eq("host_id", host.id), eq("operation_type", "install")),
  });
  const uuids = rows.map(({ profile_uuid }) => profile_uuid);
  const profiles = await ctx.store.configurationProfiles.list({ where: oneOf("uuid", uuids) });
  const shown = await profilesOnWire(ctx.store, profiles);
  return {
    host_id: host.id,
    profiles: shown.map(({ profile_uuid, team_id, name, identifier, created_at, updated_at, checksum }) => ({
      profile_uuid,
      team_id,
      name,
      identifier,
      created_at,
      updated_at,
      checksum,
    })),
  };
}
