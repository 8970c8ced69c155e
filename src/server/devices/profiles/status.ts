// Counts hosts by the status of their settings, and the profiles of one host.

import type { ProfileStatus } from "../../../api/devices/profiles.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { windowsServers } from "../../hosts/mdm-status/tables.ts";
import { countSettings, type SettingCounts } from "../../hosts/os-settings/summary.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { requireAnyMdm } from "../gate.ts";
import { profileFor, teamFor } from "./access.ts";
import { profilesOnWire } from "./wire.ts";

export async function settingsSummary(ctx: Context, query: { team_id?: number | undefined }): Promise<SettingCounts> {
  const { team_id } = await teamFor(ctx, "mdm:read", query.team_id);
  return ctx.running
    .of(sharing)
    .run(JSON.stringify(["profiles summary", team_id]), () => countSettings(ctx.store, team_id ?? 0, windowsServers));
}

export async function statusOfProfile(ctx: Context, uuid: string): Promise<SettingCounts> {
  const profile = await profileFor(ctx, "profiles:read", uuid);
  await requireAnyMdm(ctx);
  const counts: SettingCounts = { verified: 0, verifying: 0, failed: 0, pending: 0 };
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
  const shown = await profilesOnWire(ctx, profiles);
  return {
    host_id: host.id,
    profiles: shown.map(({ profile_uuid, team_id, name, identifier, created_at, updated_at, checksum }) => ({
      profile_uuid,
      team_id,
      name,
      ...(identifier === undefined ? {} : { identifier }),
      created_at,
      updated_at,
      checksum,
    })),
  };
}
