// What came of one try, and when the next one is.
import { minutes, seconds } from "../core/clock.ts";
import type { Random } from "../core/random.ts";

export interface Outcome {
  readonly isDelivered: boolean;
  /** The answer's status; null where there was none. */
  readonly status: number | null;
  /** Why it was not delivered: nothing of the answer's body, no secrets. */
  readonly error: string | null;
  /** The answer's Retry-After, as it stood there. */
  readonly retryAfter: string | null;
  /** What is kept of the answer, or of the try for the next one. */
  readonly result: Record<string, string> | null;
}

export const delivered = (status: number, result: Outcome["result"] = null): Outcome => ({
  isDelivered: true,
  status,
  error: null,
  retryAfter: null,
  result,
});

export const notDelivered = (
  error: string,
  status: number | null = null,
  retryAfter: string | null = null,
): Outcome => ({ isDelivered: false, status, error: error.slice(0, 500), retryAfter, result: null });

/** Whether the destination as a whole is in trouble, and not only with this one request. */
export const isDestinationDown = ({ status }: Outcome): boolean =>
  status === null || status >= 500 || status === 429 || status === 408;

const FIRST_LEAST = seconds(1);
const FIRST_MORE = seconds(4);
const BASE = seconds(5);
const LONGEST = minutes(10);

/** Milliseconds until the next try, after so many that failed (1 or more). */
export function retryDelay(failed: number, random: Pick<Random, "int">): number {
  if (failed <= 1) return FIRST_LEAST + random.int(FIRST_MORE + 1);
  const whole = Math.min(LONGEST, BASE * 2 ** Math.min(failed - 1, 20));
  return whole / 2 + random.int(whole / 2 + 1);
}

/** Milliseconds that a Retry-After asks to wait: seconds or a date (RFC 9110, 10.2.3); 0 where it says nothing. */
export function retryAfterOf(text: string | null, now: number): number {
  const given = text?.trim() ?? "";
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000;
  const at = /^[A-Z][a-z]{2},? /.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
