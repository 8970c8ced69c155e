// Compares what hosts should have with what they have, and queues the differences. Every step works on sets: without
// differences, its number of statements depends on the number of profiles, not on that of hosts.

import { setImmediate } from "node:timers/promises";
import { FILEVAULT_IDENTIFIER, settleMacs } from "../../hosts/disk-encryption/macs.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import { type Context, type Services, serviceContext } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { contentsOf } from "./contents.ts";
import { deliver } from "./delivery/deliver.ts";
import { BATCH_SIZE, repeat } from "./delivery/repeat.ts";
import { applyEvents, changingHosts } from "./host-rows.ts";
import { type ProfileRow, platformOf, profilePlatforms } from "./platform.ts";
import { hostsToGetIt, hostsToKeepIt, labelsOfProfiles, type ProfileLabel } from "./scope.ts";
import type { ProfileEvent } from "./state.ts";
import { hostProfiles } from "./tables.ts";
import { fillVariables, valuesOfHosts } from "./variables.ts";

/** Profiles per statement: the embedded store looks at each of their rows before it does anything else. */
const PROFILES_PER_STATEMENT = 5;
/** What to compare: everything, or only these profiles, or only these hosts. */
export interface Extent {
  readonly profileIds?: readonly number[];
  readonly hostIds?: readonly number[];
}

/** Columns of a profile without its content. */
const outline = [
  "id",
  "uuid",
  "team_id",
  "platform",
  "kind",
  "name",
  "identifier",
  "checksum",
  "has_variables",
  "host_platform",
] as const;
type Outline = Pick<ProfileRow, (typeof outline)[number]>;

/** Returns how many hosts' profiles were changed. */
export async function reconcile(services: Services, extent: Extent, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "profiles");
  const { store } = ctx;
  const where = extent.profileIds === undefined ? everything : oneOf("id", extent.profileIds);
  const profiles = await store.configurationProfiles.pick(outline, { where });
  const labels = await labelsOfProfiles(
    store,
    profiles.map(({ id }) => id),
  );
  let changed = await dropUnmanaged(ctx, extent, signal);
  changed += await removeOrphans(ctx, extent, signal);
  for await (const group of groupsOf(profiles, labels)) {
    if (signal?.aborted) return changed;
    const profileLabels = labels.get(group[0]!.id) ?? [];
    changed += await removeUnwanted(ctx, group, profileLabels, extent, signal);
    await setImmediate();
    for (const profile of await incomplete(ctx, group, profileLabels, extent))
      changed += await addMissing(ctx, profile, profileLabels, amongHosts(extent), signal);
    for (const profile of group)
      if (profile.has_variables) changed += await renewVariables(ctx, profile, extent, signal);
  }
  await deliver(services, signal);
  return changed;
}

const ofHosts = ({ hostIds }: Extent): Predicate => (hostIds === undefined ? everything : oneOf("host_id", hostIds));
const amongHosts = ({ hostIds }: Extent): Predicate => (hostIds === undefined ? everything : oneOf("id", hostIds));

/** Hosts that are to get the profile, and have no row for its present content. */
function hostsLackingIt(ctx: Context, profile: Outline, labels: readonly ProfileLabel[]): Predicate {
  const current = and(
    eq("profile_uuid", profile.uuid),
    eq("operation_type", "install"),
    eq("checksum", profile.checksum),
  );
  return and(hostsToGetIt(ctx, profile, labels), not(exists(hostProfiles, "host_id", current)));
}

/** Whether nothing is to be sent to the host, and it has answered everything. */
export async function hasItsProfiles(ctx: Context, hostId: number): Promise<boolean> {
  const { store } = ctx;
  const rows = await store.hostProfiles.list({ where: eq("host_id", hostId) });
  if (rows.some(({ status }) => status === null || status === "pending")) return false;
  const isCurrent = ({ uuid, checksum }: Outline) =>
    rows.some((row) => row.profile_uuid === uuid && row.operation_type === "install" && row.checksum === checksum);
  const host = await store.hosts.get(hostId);
  const profiles = await store.configurationProfiles.pick(outline, { where: inTeam(host?.team_id ?? 0) });
  const others = profiles.filter((profile) => !isCurrent(profile));
  if (others.length === 0) return true;
  const labels = await labelsOfProfiles(
    store,
    others.map(({ id }) => id),
  );
  const isForIt = or(...others.map((profile) => hostsToGetIt(ctx, profile, labels.get(profile.id) ?? [])));
  return (await store.hosts.first({ where: and(eq("id", hostId), isForIt) })) === null;
}

/**
 * Profiles that are for the same hosts, so that one statement serves several: those of a team and platform without
 * labels. Profiles with labels are alone. Other requests are served in between.
 */
async function* groupsOf(
  profiles: readonly Outline[],
  labels: ReadonlyMap<number, ProfileLabel[]>,
): AsyncGenerator<readonly [Outline, ...Outline[]]> {
  const keyOf = ({ id, team_id, platform, host_platform }: Outline) =>
    labels.has(id) ? `${id}` : `${platform} ${host_platform} ${team_id}`;
  for (const same of groupBy(profiles, keyOf).values())
    for (let at = 0; at < same.length; at += PROFILES_PER_STATEMENT) {
      const [first, ...others] = same.slice(at, at + PROFILES_PER_STATEMENT);
      yield [first!, ...others];
      await setImmediate();
    }
}

/** The profiles of the group that some host lacks, or has with earlier content. Only hosts of its scope have them. */
async function incomplete(
  ctx: Context,
  group: readonly [Outline, ...Outline[]],
  labels: readonly ProfileLabel[],
  extent: Extent,
): Promise<readonly Outline[]> {
  // Most profiles are on all of their hosts, which counting shows for all of the group.
  if (group.length === 1) return group;
  const { store } = ctx;
  const remaining = await store.hosts.count(and(amongHosts(extent), hostsToGetIt(ctx, group[0], labels)));
  const current = and(
    oneOf(
      "profile_uuid",
      group.map(({ uuid }) => uuid),
    ),
    eq("operation_type", "install"),
    // A content has the identifier of its profile, so no other profile of the team has this checksum.
    oneOf(
      "checksum",
      group.map(({ checksum }) => checksum),
    ),
    ofHosts(extent),
  );
  const counts = await store.hostProfiles.groupCount("profile_uuid", current);
  const complete = new Set(counts.flatMap(({ value, count }) => (count === remaining ? [value] : [])));
  return group.filter(({ uuid }) => !complete.has(uuid));
}

/** The hosts that lack the profile, or have earlier content, get a row that is to be delivered. */
function addMissing(
  ctx: Context,
  profile: Outline,
  labels: readonly ProfileLabel[],
  among: Predicate,
  signal?: AbortSignal,
): Promise<number> {
  const lacking = and(among, hostsLackingIt(ctx, profile, labels));
  return repeat(signal, async () => {
    const hosts = await ctx.store.hosts.pick(["id"], { where: lacking, limit: BATCH_SIZE });
    if (hosts.length === 0) return 0;
    const ids = hosts.map(({ id }) => id);
    return ctx.store.tx(async (store) => {
      // A profile that was changed in the meantime is compared again after its own notification.
      const now = await store.configurationProfiles.first({ where: eq("id", profile.id) });
      if (now?.checksum !== profile.checksum) return 0;
      await changingHosts({ ...ctx, store }, ids, async () => {
        const { uuid: profile_uuid, platform, kind, name, identifier, checksum } = profile;
        const state = { operation_type: "install", status: null, detail: "", retries: 0, command_uuid: null } as const;
        await store.hostProfiles.upsert(
          ids.map((host_id) => ({ host_id, profile_uuid, platform, kind, name, identifier, checksum, ...state })),
          {
            on: ["host_id", "profile_uuid"],
            set: ["name", "identifier", "checksum", "operation_type", "status", "detail", "retries", "command_uuid"],
            returning: [],
          },
        );
        if (identifier === FILEVAULT_IDENTIFIER) await settleMacs(store, ids);
      });
      return ids.length;
    });
  });
}

/** Applies an event to the rows that match, in steps. */
const applyTo = (ctx: Context, where: Predicate, event: ProfileEvent, signal?: AbortSignal): Promise<number> =>
  repeat(signal, async () => {
    // In most passes there are none. Counting needs no order, which costs the embedded store most of the time.
    if ((await ctx.store.hostProfiles.count(where)) === 0) return 0;
    return ctx.store.tx(async (store) => {
      const rows = await store.hostProfiles.list({ where, limit: BATCH_SIZE });
      await applyEvents(
        { ...ctx, store },
        rows.map((row) => ({ row, event })),
      );
      return rows.length;
    });
  });

/** Hosts that are not in the scope of the profiles any more remove them. */
function removeUnwanted(
  ctx: Context,
  group: readonly [Outline, ...Outline[]],
  labels: readonly ProfileLabel[],
  extent: Extent,
  signal?: AbortSignal,
): Promise<number> {
  const kept = exists(hosts, "id", hostsToKeepIt(ctx, group[0], labels), "host_id");
  const uuids = group.map(({ uuid }) => uuid);
  const installed = and(oneOf("profile_uuid", uuids), eq("operation_type", "install"));
  return applyTo(ctx, and(installed, ofHosts(extent), not(kept)), { type: "unwanted" }, signal);
}

/** Profiles that were deleted, also with their team, are removed from hosts. */
async function removeOrphans(ctx: Context, extent: Extent, signal?: AbortSignal): Promise<number> {
  if (extent.profileIds !== undefined) return 0;
  const counts = await ctx.store.hostProfiles.groupCount("profile_uuid", ofHosts(extent));
  const uuids = counts.map(({ value }) => String(value));
  const profiles = await ctx.store.configurationProfiles.pick(["uuid"], { where: oneOf("uuid", uuids) });
  const isKnown = new Set(profiles.map(({ uuid }) => uuid));
  const orphans = uuids.filter((uuid) => !isKnown.has(uuid));
  if (orphans.length === 0) return 0;
  const platforms = ctx.extensions.of(profilePlatforms).map(({ name }) => name);
  const where = and(
    oneOf("profile_uuid", orphans),
    eq("operation_type", "install"),
    oneOf("platform", platforms),
    ofHosts(extent),
  );
  return applyTo(ctx, where, { type: "unwanted" }, signal);
}

/** Nothing can be queued for hosts that are not managed any more. */
async function dropUnmanaged(ctx: Context, extent: Extent, signal?: AbortSignal): Promise<number> {
  if (extent.profileIds !== undefined) return 0;
  let dropped = 0;
  for (const { name, hosts: managed } of ctx.extensions.of(profilePlatforms)) {
    const where = and(amongHosts(extent), not(managed), exists(hostProfiles, "host_id", eq("platform", name)));
    dropped += await repeat(signal, async () => {
      if ((await ctx.store.hosts.first({ where })) === null) return 0;
      return ctx.store.tx(async (store) => {
        const ids = (await store.hosts.pick(["id"], { where, limit: BATCH_SIZE })).map(({ id }) => id);
        await changingHosts({ ...ctx, store }, ids, async () => {
          await store.hostProfiles.delete(and(oneOf("host_id", ids), eq("platform", name)));
        });
        return ids.length;
      });
    });
  }
  return dropped;
}

/** A host whose values have changed since the profile was sent gets it again. */
async function renewVariables(
  ctx: Context,
  { id, uuid }: Outline,
  extent: Extent,
  signal?: AbortSignal,
): Promise<number> {
  const profile = await ctx.store.configurationProfiles.get(id);
  if (!profile) return 0;
  const platform = platformOf(ctx, profile.platform);
  const text = (await contentsOf(ctx.store, [id])).get(id)?.toString() ?? "";
  const where = and(eq("profile_uuid", uuid), eq("operation_type", "install"), not(isNull("status")), ofHosts(extent));
  let renewed = 0;
  for await (const rows of ctx.store.hostProfiles.pages({ where }, BATCH_SIZE)) {
    if (signal?.aborted) break;
    const values = await valuesOfHosts(
      ctx.store,
      rows.map(({ host_id }) => host_id),
      [text],
    );
    const changed = rows.filter((row) => {
      const hostValues = values.get(row.host_id);
      if (hostValues === undefined) return false;
      return (
        fillVariables(text, uuid, hostValues, (value) => platform.escape(value, profile.kind)).digest !== row.variables
      );
    });
    if (changed.length === 0) continue;
    renewed += changed.length;
    await ctx.store.tx(async (store) => {
      await applyEvents(
        { ...ctx, store },
        changed.map((row) => ({ row, event: { type: "changed" } })),
      );
    });
  }
  return renewed;
}

/** The profiles whose labels include one of these. */
export async function profilesWithLabels(store: ServerTx, labelIds: readonly number[]): Promise<number[]> {
  const rows = await store.profileLabels.pick(["profile_id"], { where: oneOf("label_id", labelIds) });
  return [...new Set(rows.map(({ profile_id }) => profile_id))];
}
