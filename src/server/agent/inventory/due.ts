// When detail, label and policy queries fall due. Hosts that enrolled together must not answer together for ever:
// each has its own delay of whole minutes, the same in every process.

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const MAX_JITTER_PERCENT = 10;

/** Spreads neighbouring ids over all 32 bits (the finalizer of MurmurHash3). */
function mix(id: number): number {
  let h = Math.imul(id ^ (id / 2 ** 32), 1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The delay of one host: 0 to 5 minutes for an interval of one hour. */
export function jitterMs(hostId: number, intervalMs: number, maxJitterPercent: number = MAX_JITTER_PERCENT): number {
  const buckets = Math.floor(((intervalMs / MINUTE_MS) * maxJitterPercent) / 100);
  return buckets < 2 ? 0 : (mix(hostId) % buckets) * MINUTE_MS;
}

/**
 * Whether what was last done at `last` (ISO text, null: never) is due at `now` (epoch milliseconds). A time further
 * ahead than one interval comes from a clock that has since been set back: due, or it would be waited for.
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
