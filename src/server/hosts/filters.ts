// From host filters to one predicate: list, count, summary, bulk delete and every other choice of hosts use this.
import type { Action } from "../../api/access.ts";
import type { BodyHostFilter, HostFilter } from "../../api/hosts.ts";
import { linuxPlatforms } from "../agent/inventory/platforms.ts";
import { inTeam, visible } from "../core/access.ts";
import { days, hours, isoAt, seconds } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { labelMembers } from "../labels/tables.ts";
import { hostSoftware } from "../software/tables.ts";
import {
  and,
  eq,
  everything,
  exists,
  gt,
  gte,
  has,
  lt,
  lte,
  not,
  oneOf,
  or,
  type Predicate,
  search,
} from "../store/query.ts";
import { hostEmails, hostSeen, hosts, osVersions } from "./tables.ts";

type Asker = Pick<Context, "user" | "clock">;

/** Not heard of for this long is missing. */
const MISSING_AFTER = days(30);
/** How long a host that was never heard of counts as online: the window of intervals that are not known yet. */
const FIRST_WINDOW = seconds(60);

const neverSeen = not(exists(hostSeen, "id"));

export const online = (now: number): Predicate =>
  or(
    exists(hostSeen, "id", gt("online_until", isoAt(now))),
    and(neverSeen, gt("created_at", isoAt(now - FIRST_WINDOW))),
  );

/** Hosts whose last contact (for those without one: their creation) is at that time or before. */
export const notSeenSince = (time: string): Predicate =>
  or(exists(hostSeen, "id", lte("seen_time", time)), and(neverSeen, lte("created_at", time)));

export const missing = (now: number): Predicate => notSeenSince(isoAt(now - MISSING_AFTER));
export const isNew = (now: number): Predicate => gte("created_at", isoAt(now - hours(24)));

/** Hosts that never told their disk space have 0 for both figures, and are not low on it. */
export const lowDiskSpace = (gigabytes: number): Predicate =>
  and(
    lt("gigs_disk_space_available", gigabytes),
    or(gt("gigs_disk_space_available", 0), gt("gigs_total_disk_space", 0)),
  );

export const onPlatform = (platform: string): Predicate =>
  platform === "linux" ? oneOf("platform", linuxPlatforms) : eq("platform", platform);

function byStatus(status: NonNullable<HostFilter["status"]>, now: number): Predicate {
  switch (status) {
    case "online":
      return online(now);
    case "offline":
      return not(online(now));
    case "new":
      return isNew(now);
    case "mia":
    case "missing":
      return missing(now);
  }
}

/** Searches the names that a host is known by, and its users' email addresses when the text looks like one. */
export function matching(text: string): Predicate {
  const names = search(["hostname", "hardware_serial", "uuid", "primary_ip"], text);
  return text.includes("@") && !/\s/.test(text)
    ? or(names, exists(hostEmails, "host_id", search(["email"], text)))
    : names;
}

function onSystem({ os_name: name, os_version: version }: HostFilter): Predicate {
  if (name === undefined && version === undefined) return everything;
  if (version === undefined) throw unpaired("os_version", "os_name");
  if (name === undefined) throw unpaired("os_name", "os_version");
  return exists(osVersions, "id", and(eq("name", name), eq("version", version)), "os_version_id");
}

const unpaired = (absent: string, given: string) =>
  badRequest(`Missing ${absent} (it must be present when ${given} is specified)`, absent);

export const withLabel = (labelId: number): Predicate => exists(labelMembers, "host_id", eq("label_id", labelId));
export const withSoftware = (versionId: number): Predicate =>
  exists(hostSoftware, "id", has("software_ids", versionId));
export const withTitle = (titleId: number): Predicate => exists(hostSoftware, "id", has("title_ids", titleId));

const given = <T>(value: T | undefined, predicate: (value: T) => Predicate): Predicate =>
  value === undefined ? everything : predicate(value);

/** The hosts that the filter picks among those on which the caller may do the action. */
export function hostsWhere(ctx: Asker, filter: HostFilter, action: Action): Predicate {
  const now = ctx.clock.now();
  return and(
    visible(ctx, action),
    inTeam(filter.team_id),
    given(filter.status, (status) => byStatus(status, now)),
    given(filter.query, matching),
    given(filter.label_id, withLabel),
    onSystem(filter),
    given(filter.os_version_id, (id) => eq("os_version_id", id)),
    given(filter.software_version_id, withSoftware),
    given(filter.software_id, withSoftware),
    given(filter.software_title_id, withTitle),
    given(filter.low_disk_space, lowDiskSpace),
  );
}

/** A body's filter as the query's: null is as good as left out. */
export const filterOfBody = (body: BodyHostFilter): HostFilter => ({
  query: body.query?.trim(),
  status: body.status,
  label_id: body.label_id ?? undefined,
  team_id: body.team_id ?? undefined,
});

/** Rows past a value of an order that is not the hosts table's own. */
export const pastRelated = (
  table: typeof hostSeen,
  column: string,
  value: string,
  direction: "asc" | "desc",
): Predicate => exists(table, "id", direction === "asc" ? gt(column, value) : lt(column, value));

export const hostColumns: ReadonlySet<string> = new Set(Object.keys(hosts.columns));
