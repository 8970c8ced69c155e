// Fields for the last contact of hosts, and other fields of the host row.
import { hours, isoAt, seconds } from "../../platform/core/clock.ts";
import { linuxPlatforms, otherParents, otherSystems } from "../../platform/core/platforms.ts";
import {
  and,
  contains,
  eq,
  exists,
  gt,
  gte,
  lt,
  lte,
  not,
  oneOf,
  or,
  type Predicate,
  search,
} from "../../platform/store/query.ts";
import { hostEmails, hostSeen } from "./tables.ts";

/**
 * How long a new host without any contact counts as online: its intervals are not known yet, so a minimum is used.
 */
const FIRST_WINDOW = seconds(60);

const neverSeen = not(exists(hostSeen, "id"));

export const online = (now: number): Predicate =>
  or(
    exists(hostSeen, "id", gt("online_until", isoAt(now))),
    and(neverSeen, gt("created_at", isoAt(now - FIRST_WINDOW))),
  );

/**
 * Hosts that were online at any moment of this time, as far as their last contact shows: what was before they came back
 * online for the last time is not stored.
 */
export const onlineBetween = (from: number, to: number): Predicate =>
  or(
    exists(
      hostSeen,
      "id",
      and(gt("online_until", isoAt(from)), or(lt("seen_time", isoAt(to)), lt("online_since", isoAt(to)))),
    ),
    and(neverSeen, gt("created_at", isoAt(from - FIRST_WINDOW)), lt("created_at", isoAt(to))),
  );

/** Hosts whose status has changed since that time. Some hosts that came online earlier are included. */
export const statusChangedSince = (time: number, now: number): Predicate =>
  or(
    exists(
      hostSeen,
      "id",
      or(gte("online_since", isoAt(time)), and(gte("online_until", isoAt(time)), lte("online_until", isoAt(now)))),
    ),
    and(neverSeen, gte("created_at", isoAt(time - FIRST_WINDOW))),
  );

/** Hosts whose last contact compares with the time as given. Hosts without a contact use their creation time. */
export const seenWhen = (compare: typeof lt, time: string): Predicate =>
  or(exists(hostSeen, "id", compare("seen_time", time)), and(neverSeen, compare("created_at", time)));

/** Hosts whose query agent made its last contact at or before that time. */
export const notSeenSince = (time: string): Predicate => seenWhen(lte, time);

export const isNew = (now: number): Predicate => gte("created_at", isoAt(now - hours(24)));

/** Hosts that never reported their disk space have 0 in both columns and do not count as low on space. */
export const lowDiskSpace = (gigabytes: number): Predicate =>
  and(
    lt("gigs_disk_space_available", gigabytes),
    or(gt("gigs_disk_space_available", 0), gt("gigs_total_disk_space", 0)),
  );

/** Every distribution that counts as Linux, consistent with `platformFamily` for a single host. */
const onLinux: Predicate = or(
  oneOf("platform", linuxPlatforms),
  and(
    not(oneOf("platform", ["", "darwin", "windows", ...otherSystems])),
    not(or(...otherParents.map((name) => contains("platform_like", name)))),
  ),
);

export const onPlatform = (platform: string): Predicate => (platform === "linux" ? onLinux : eq("platform", platform));

/** Searches the names of hosts, and the email addresses of their users if the text looks like an address. */
export function matching(text: string): Predicate {
  const names = search(["hostname", "hardware_serial", "uuid", "primary_ip"], text);
  return text.includes("@") && !/\s/.test(text)
    ? or(names, exists(hostEmails, "host_id", search(["email"], text)))
    : names;
}
