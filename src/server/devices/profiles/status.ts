// Counts hosts by the status of their settings, and the profiles of one host.

import type { z } from "zod";
import type { ProfileHost, ProfileStatus, profilesApi } from "../../../api/devices/profiles.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import { windowsServers } from "../../hosts/mdm-status/tables.ts";
import { countSettings, type SettingCounts } from "../../hosts/os-settings/summary.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { page } from "../../platform/core/http/paging.ts";
import { byId } from "../../platform/core/maps.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, exists, isNull, oneOf, or, type Predicate, search } from "../../platform/store/query.ts";
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
  const counts = noHosts();
  for (const { value, count } of await ctx.store.hostProfiles.groupCount("status", eq("profile_uuid", profile.uuid)))
    counts[(value ?? "pending") as ProfileStatus] += count;
  return counts;
}

const noHosts = (): SettingCounts => ({ verified: 0, verifying: 0, failed: 0, pending: 0 });

const inStatus = (status: ProfileStatus): Predicate =>
  status === "pending" ? or(eq("status", "pending"), isNull("status")) : eq("status", status);

/** The hosts of each of these profiles by status. */
export async function countsOfProfiles(
  { store }: Pick<Context, "store">,
  uuids: readonly string[],
): Promise<ReadonlyMap<string, SettingCounts>> {
  const counts = new Map(uuids.map((uuid) => [uuid, noHosts()]));
  for (const status of ["verified", "verifying", "failed", "pending"] as const) {
    const where = and(oneOf("profile_uuid", uuids), inStatus(status));
    for (const { value, count } of await store.hostProfiles.groupCount("profile_uuid", where))
      counts.get(String(value))![status] = count;
  }
  return counts;
}

/** The hosts that have the profile, or are about to get or to lose it, as far as the caller may see them. */
export async function hostsOfProfile(ctx: Context, uuid: string, query: z.output<typeof profilesApi.hosts.query>) {
  const profile = await profileFor(ctx, "profiles:read", uuid);
  await requireAnyMdm(ctx);
  const onHosts = and(
    visible(ctx, "profiles:read"),
    query.query === undefined ? everything : search(["display_name", "hostname"], query.query),
  );
  const where = and(
    eq("profile_uuid", profile.uuid),
    query.status === undefined ? everything : inStatus(query.status),
    onHosts.op === "all" ? everything : exists(hosts, "id", onHosts, "host_id"),
  );
  const { rows, meta } = await page(ctx.store.hostProfiles, query, where, {
    defaultOrder: [{ column: "display_name", direction: "asc", of: hosts, on: "host_id" }],
    orderBy: (key, direction) => (key === "status" ? undefined : { column: key, direction, of: hosts, on: "host_id" }),
  });
  const ids = rows.map(({ host_id }) => host_id);
  const names = byId(
    await ctx.store.hosts.pick(["id", "display_name", "hostname", "team_id"], { where: oneOf("id", ids) }),
  );
  const shown = rows.flatMap(({ host_id, status, operation_type, detail }): ProfileHost[] => {
    const host = names.get(host_id);
    // Deleted at this moment.
    if (!host) return [];
    const { id, display_name, hostname, team_id } = host;
    return [{ id, display_name, hostname, team_id, status: status ?? "pending", operation_type, detail }];
  });
  return { hosts: shown, meta };
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
