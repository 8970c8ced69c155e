// The outcome of a delivery attempt, and the time of the next one.
import { minutes, seconds } from "../core/clock.ts";
import type { Random } from "../core/random.ts";

export interface DeliveryOutcome {
  readonly isDelivered: boolean;
  /** The HTTP status; null if there was no reply. */
  readonly status: number | null;
  /** Why it was not delivered. Contains no secrets and nothing of the reply's body. */
  readonly error: string | null;
  /** The Retry-After header of the reply, unparsed. */
  readonly retryAfter: string | null;
  /** Data to store from the reply, or from this attempt for the next one. */
  readonly result: Record<string, string> | null;
}

export const delivered = (status: number, result: DeliveryOutcome["result"] = null): DeliveryOutcome => ({
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
): DeliveryOutcome => ({ isDelivered: false, status, error: error.slice(0, 500), retryAfter, result: null });

/** Whether the destination as a whole fails, not just this request. */
export const isDestinationDown = ({ status }: DeliveryOutcome): boolean =>
  status === null || status >= 500 || isForLater(status);

/** Whether the destination rejected this request permanently (4xx except timeout, too early and rate limit). */
export const isRefused = ({ status }: DeliveryOutcome): boolean =>
  status !== null && status >= 400 && status < 500 && !isForLater(status);

/** Request Timeout, Too Early, Too Many Requests. */
const isForLater = (status: number): boolean => status === 408 || status === 425 || status === 429;

const FIRST_LEAST = seconds(1);
const FIRST_MORE = seconds(4);
const BASE = seconds(5);
const LONGEST_DELAY = minutes(10);

/** Delay in ms before the next attempt, after `failed` (1 or more) failed attempts. */
export function retryDelay(failed: number, random: Pick<Random, "int">): number {
  if (failed <= 1) return FIRST_LEAST + random.int(FIRST_MORE + 1);
  const whole = Math.min(LONGEST_DELAY, BASE * 2 ** Math.min(failed - 1, 20));
  return whole / 2 + random.int(whole / 2 + 1);
}

/** The delay in ms of a Retry-After header: seconds or a date (RFC 9110, 10.2.3); 0 if it is absent or invalid. */
export function retryAfterOf(text: string | null, now: number): number {
  const trimmed = text?.trim() ?? "";
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000;
  const at = /^[A-Z][a-z]{2},? /.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}
