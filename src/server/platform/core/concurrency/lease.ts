// Leases: a row with these columns belongs to one server until `runner_until`. A server that has died renews nothing,
// so another one can claim the row a minute later.
import { eq, gt, isNull, lte, or, type Predicate } from "../../store/query.ts";
import { text, time } from "../../store/table.ts";
import { isoAt, minutes } from "../clock.ts";
import type { Services } from "../context.ts";

export const LEASE = minutes(1);
const RENEW_EVERY = LEASE / 4;
/** A lease that ends later than this was taken while a clock was wrong. It does not count once the clock is right. */
const LEASE_MAX = 10 * LEASE;

/** Columns of a table whose rows are leased. */
export const leaseColumns = {
  /** A random id of the current runner; empty: none. */
  runner: text().default(""),
  /** The time until which the runner holds the lease. */
  runner_until: time().nullable().index(),
};

export interface Lease {
  readonly runner: string;
  readonly runner_until: string;
}

type Time = Pick<Services, "clock">;

const until = ({ clock }: Time): string => isoAt(clock.now() + LEASE);

/** The values that make this server the runner. To claim a row, set them on the condition `isFree`. */
export const newLease = (home: Time & Pick<Services, "random">): Lease => ({
  runner: home.random.uuid(),
  runner_until: until(home),
});

/** The values that end a lease. */
export const noLease = { runner: "", runner_until: null };

/** Nobody holds the row, or its runner has died. */
export const isFree = ({ clock }: Time): Predicate =>
  or(isNull("runner_until"), lte("runner_until", clock.iso()), gt("runner_until", isoAt(clock.now() + LEASE_MAX)));

export function isHeld({ clock }: Time, { runner_until }: { readonly runner_until: string | null }): boolean {
  if (runner_until === null) return false;
  const left = Date.parse(runner_until) - clock.now();
  return left > 0 && left <= LEASE_MAX;
}

/** The row still belongs to this runner. Every write of a runner to its row has this condition. */
export const heldBy = ({ runner }: Pick<Lease, "runner">): Predicate => eq("runner", runner);

/** An embedded store has one server: the leases that it finds at its start are those of a server that was killed. */
export const isAlone = ({ store }: Pick<Services, "store">): boolean => store.engine === "lowdb";

/** Another server has taken over the row. */
export class LeaseLost extends Error {
  constructor() {
    super("another server has taken over");
  }
}

/**
 * Does the work, and renews the lease meanwhile. `renew` writes the values on the condition `heldBy` and returns the
 * number of rows. The work's signal aborts when the lease is lost, when it could not be renewed in time, or when `stop`
 * aborts.
 */
export async function whileHeld<T>(
  home: Time,
  renew: (values: Pick<Lease, "runner_until">) => Promise<number>,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  // Real time: the clock that tests set decides which leases have expired, not how long to wait.
  let renewedAt = performance.now();
  let renewing = false;
  const timer = setInterval(() => {
    // Before the lease ends and another server can begin.
    if (performance.now() - renewedAt > LEASE - RENEW_EVERY) lost.abort(new LeaseLost());
    if (renewing || signal.aborted) return;
    renewing = true;
    const began = performance.now();
    renew({ runner_until: until(home) })
      .then((count) => {
        if (count === 0) lost.abort(new LeaseLost());
        else renewedAt = began;
      })
      // The store is away: the next attempts may succeed before the lease expires.
      .catch(() => {})
      .finally(() => {
        renewing = false;
      });
  }, RENEW_EVERY);
  timer.unref();
  try {
    return await work(signal);
  } finally {
    clearInterval(timer);
  }
}
