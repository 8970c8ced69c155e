// Hosts of a list that have changed since a time, for callers that keep a list up to date.
import type { HostListQuery } from "../../../api/inventory/host-filters.ts";
import { statusChangedSince } from "../../hosts/hosts/status.ts";
import { hostMdm } from "../../hosts/mdm-status/tables.ts";
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { everything, exists, gte, or, type Predicate } from "../../platform/store/query.ts";

/**
 * A change has the time at which its transaction began, by the clock of its server, and becomes visible at the commit.
 * Changes that take longer, or of servers whose clocks differ by more, may be missed.
 */
const MARGIN = seconds(30);

/**
 * Every report of an agent, transfers and enrollments change `updated_at`, answers to policies and labels included.
 * Contacts alone count only if the status changes.
 */
export function changedSince(query: Pick<HostListQuery, "changed_since">, now: number): Predicate {
  if (!query.changed_since) return everything;
  const time = Date.parse(query.changed_since);
  const since = isoAt(time);
  return or(
    gte("updated_at", since),
    statusChangedSince(time, now),
    exists(hostMdm, "id", or(gte("checked_in_at", since), gte("enrolled_at", since))),
  );
}

/** The time for the next request, taken before the hosts are read. */
export const changedAsOf = (ctx: Pick<Context, "clock">, query: Pick<HostListQuery, "changed_since">) =>
  query.changed_since === undefined ? {} : { changed_as_of: isoAt(ctx.clock.now() - MARGIN) };
