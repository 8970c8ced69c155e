// Sliding windows: how often an event happened in the last minute (or another span), and whether one more is allowed.
// No side effects.

/** The time in milliseconds since 1970, and the number of events. */
export type Hit = readonly [time: number, count: number];

export interface Window {
  readonly most: number;
  readonly span: number;
}

/**
 * Above this limit, events within one twentieth of the span share an entry with the time of the last one, so that
 * rows stay small.
 */
const EXACT_MAX = 60;
const SLOTS = 20;

/**
 * The hits that still count. If the clock was set back, future times are treated as now, so that no one waits longer
 * than the span.
 */
export const recent = (hits: readonly Hit[], now: number, { span }: Window): Hit[] =>
  hits.map(([time, count]): Hit => [Math.min(time, now), count]).filter(([time]) => time > now - span);

/** Milliseconds until one more event is allowed; 0 if it is allowed now. */
export function waitOf(hits: readonly Hit[], now: number, window: Window): number {
  const counted = recent(hits, now, window);
  let excess = counted.reduce((sum, [, count]) => sum + count, 0) + 1 - window.most;
  if (excess <= 0) return 0;
  for (const [time, count] of counted) {
    excess -= count;
    if (excess <= 0) return Math.max(1, time + window.span - now);
  }
  return window.span;
}

/** Clocks of servers differ slightly; a hit further in the future was recorded before a clock was set back. */
const AHEAD_MAX = 5_000;

/** Whether the hits must be stored with the current time, so that they expire one span after a clock was set back. */
export const isAhead = (hits: readonly Hit[], now: number): boolean => hits.some(([time]) => time > now + AHEAD_MAX);

/** How many more events are allowed now. */
export const leftOf = (hits: readonly Hit[], now: number, window: Window): number =>
  Math.max(0, window.most - recent(hits, now, window).reduce((sum, [, count]) => sum + count, 0));

/** Returns the hits with one more added, or with several. */
export function withHit(hits: readonly Hit[], now: number, window: Window, count = 1): Hit[] {
  const counted = recent(hits, now, window);
  const last = counted.at(-1);
  const slot = window.span / SLOTS;
  if (last && window.most > EXACT_MAX && Math.floor(last[0] / slot) === Math.floor(now / slot))
    return [...counted.slice(0, -1), [now, last[1] + count]];
  return [...counted, [now, count]];
}
