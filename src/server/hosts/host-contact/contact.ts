// When hosts were last in contact with the server, by whichever channel: the query agent, the managed agent, or device
// management. `status` (online or offline) is that of the query agent (hosts/status.ts);
// the history of who was online includes devices without one.
import type { HostFilter } from "../../../api/inventory/host-filters.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import { and, exists, gt, lt, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { isNew, notSeenSince, online, onlineBetween } from "../hosts/status.ts";
import { hostContacts } from "../hosts/tables.ts";
import { hostMdm } from "../mdm-status/tables.ts";

/** A host is missing if it has made no contact for this long. */
const MISSING_AFTER = days(30);

/** Hosts whose last contact is at or before that time. Hosts without a contact use their creation time. */
export const noContactSince = (time: string): Predicate =>
  and(
    notSeenSince(time),
    not(exists(hostContacts, "id", gt("contacted_at", time))),
    not(exists(hostMdm, "id", gt("checked_in_at", time))),
  );

/** Devices that have no query agent: they answer only when the server asks them. */
const withoutAgents = ["ios", "ipados", "android"];

/**
 * Hosts that were online at any moment of this time. Phones and tablets count as online for twice as long as the server
 * waits before it asks them again (`detailInterval`).
 */
export const onlineDuring = (from: number, to: number, detailInterval: number): Predicate =>
  or(
    onlineBetween(from, to),
    and(
      oneOf("platform", withoutAgents),
      exists(hostMdm, "id", and(gt("checked_in_at", isoAt(from - 2 * detailInterval)), lt("checked_in_at", isoAt(to)))),
    ),
  );

export const missing = (now: number): Predicate => noContactSince(isoAt(now - MISSING_AFTER));

export function byStatus(status: NonNullable<HostFilter["status"]>, now: number): Predicate {
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
