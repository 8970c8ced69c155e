// Decides when detail, label and policy queries are due. Each host has a fixed delay in whole minutes, equal on every
// server, so that hosts which enrolled together do not report together.

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const MAX_JITTER_PERCENT = 10;

/** Hashes an id to 32 bits (the finalizer of MurmurHash3). */
function mix(id: number): number {
  let h = Math.imul(id ^ (id / 2 ** 32), 1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The delay of a host in ms: 0 to 5 minutes for an interval of one hour. */
export function jitterMs(hostId: number, intervalMs: number, maxJitterPercent: number = MAX_JITTER_PERCENT): number {
  const buckets = Math.floor(((intervalMs / MINUTE_MS) * maxJitterPercent) / 100);
  return buckets < 2 ? 0 : (mix(hostId) % buckets) * MINUTE_MS;
}

/**
 * Whether an interval has passed between `last` (ISO text; null: never) and `now` (epoch ms). A `last` more than one
 * interval in the future, as after setting the clock back, counts as due.
 */
export function isDue(
  last: string | null,
  now: number,
  intervalMs: number,
  hostId: number,
  maxJitterPercent: number = MAX_JITTER_PERCENT,
): boolean {
  if (last === null) return true;
  const at = Date.parse(last);
  return at < now - (intervalMs + jitterMs(hostId, intervalMs, maxJitterPercent)) || at > now + intervalMs;
}

/**
 * Whether a turn of something that is done every `intervalMs` has begun since `last`, which needs no record of it. Turns
 * begin at another time for each host.
 */
export function hasTurn(last: string | null, now: number, intervalMs: number, hostId: number): boolean {
  if (last === null) return true;
  const turnOf = (time: number) => Math.floor((time + (mix(hostId) % intervalMs)) / intervalMs);
  return turnOf(Date.parse(last)) !== turnOf(now);
}
