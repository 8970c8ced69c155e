import type { z } from "zod";
import type { hostsApi } from "../../../api/inventory/hosts.ts";
import { missing } from "../../hosts/host-contact/contact.ts";
import { isNew, lowDiskSpace, online, onPlatform } from "../../hosts/hosts/status.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { isListedLinux, isNamedPlatform, linuxPlatforms, platformFamily } from "../../platform/core/platforms.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, oneOf, or, type Predicate } from "../../platform/store/query.ts";

type Query = z.output<typeof hostsApi.summary.query>;
type Summary = z.output<typeof hostsApi.summary.response>;

export function summarizeHosts(ctx: Context, query: Query): Promise<Summary> {
  const key = JSON.stringify(["summary", visible(ctx, "hosts:list"), query]);
  return ctx.running.of(sharing).run(key, () => summaryNow(ctx, query));
}

async function summaryNow(ctx: Context, query: Query): Promise<Summary> {
  const { hosts, labels } = ctx.store;
  const now = ctx.clock.now();
  const where = and(
    visible(ctx, "hosts:list"),
    inTeam(query.team_id),
    query.platform ? await ofPlatform(ctx, query.platform) : everything,
  );
  const [up, gone, fresh, lowOnDisk, platforms, builtin] = await Promise.all([
    hosts.count(and(where, online(now))),
    hosts.count(and(where, missing(now))),
    hosts.count(and(where, isNew(now))),
    query.low_disk_space === undefined ? null : hosts.count(and(where, lowDiskSpace(query.low_disk_space))),
    hosts.groupCount("platform", where),
    labels.list({ where: eq("label_type", "builtin") }),
  ]);
  // Every host has exactly one platform.
  const total = platforms.reduce((sum, { count }) => sum + count, 0);
  const counted = platforms.map(({ value, count }) => ({ platform: String(value), hosts_count: count }));
  return {
    ...(query.team_id === undefined ? {} : { team_id: query.team_id }),
    totals_hosts_count: total,
    online_count: up,
    offline_count: Math.max(0, total - up),
    mia_count: gone,
    missing_30_days_count: gone,
    new_count: fresh,
    all_linux_count: await linuxCount(ctx, where, counted),
    ...(lowOnDisk === null ? {} : { low_disk_space_count: lowOnDisk }),
    builtin_labels: builtin.map(({ id, name, description, label_type }) => ({ id, name, description, label_type })),
    platforms: counted,
  };
}

/**
 * 400 for a name that is none of a platform: not in the fixed list, and of no host that the caller sees. The platforms
 * that are not in the fixed list are read from an index first. This keeps the host query on an index
 * too.
 */
async function ofPlatform(ctx: Context, platform: string): Promise<Predicate> {
  const { store } = ctx;
  if (platform !== "linux") {
    if (!isNamedPlatform(platform) && (await store.hosts.first({ where: shownOn(ctx, platform) })) === null)
      throw badRequest(`Invalid platform: ${platform}`, "platform");
    return onPlatform(platform);
  }
  const platforms = (await store.hosts.groupCount("platform")).map(({ value }) => String(value));
  const unlisted = platforms.filter((name) => platformFamily(name) === "linux" && !isListedLinux(name));
  const listed = oneOf("platform", linuxPlatforms);
  return unlisted.length === 0 ? listed : or(listed, and(oneOf("platform", unlisted), onPlatform(platform)));
}

const shownOn = (ctx: Context, platform: string): Predicate => and(visible(ctx, "hosts:list"), onPlatform(platform));

/** A platform that is not in the fixed list may be no Linux by its `platform_like`. */
async function linuxCount(ctx: Context, where: Predicate, platforms: Summary["platforms"]): Promise<number> {
  let linux = 0;
  for (const { platform, hosts_count: count } of platforms) {
    if (isListedLinux(platform)) linux += count;
    if (isListedLinux(platform) || platformFamily(platform) !== "linux") continue;
    for (const { value, count: alike } of await ctx.store.hosts.groupCount(
      "platform_like",
      and(where, eq("platform", platform)),
    ))
      if (platformFamily(platform, String(value)) === "linux") linux += alike;
  }
  return linux;
}
