import { ApiError } from "../core/errors.ts";
import { placeOf } from "../core/http/place.ts";
import { type Caller, isLoopback } from "../core/http/proxies.ts";
import { type Bucket, countAttempt, type LimitedBy } from "./shared.ts";

/**
 * A limit for endpoints that can be called without a token: per address, per account if one is given, and for all
 * callers together.
 */
export interface Attempts {
  readonly scope: string;
  readonly most: number;
  readonly ofAll: number;
  readonly span: number;
}

/**
 * Counts a failure exactly, for all servers together. Returns the seconds to wait if it exceeds a limit, otherwise 0.
 * Calls from this machine are not limited, unless an untrusted proxy forwarded them.
 */
export async function countFailure(home: LimitedBy, limit: Attempts, { address, forwarded }: Caller): Promise<number> {
  if (isLoopback(address) && !forwarded) return 0;
  try {
    await countCall(home, limit, address);
    return 0;
  } catch (error) {
    if (error instanceof ApiError && error.retryAfter !== null) return error.retryAfter;
    throw error;
  }
}

/**
 * Counts one call and throws 429 if it exceeds a limit. With only one bucket for all callers, a single stranger could
 * lock everyone out; the bucket for all callers limits the cost of the calls and the number of stored rows.
 */
export function countCall(home: LimitedBy, limit: Attempts, address: string, account?: string): Promise<void> {
  const { scope, most, ofAll, span } = limit;
  const bucket = (key: string, fits: number): Bucket => ({ scope, key, most: fits, span });
  return countAttempt(home, [
    bucket(`address ${placeOf(address)}`, most),
    ...(account === undefined ? [] : [bucket(`account ${account}`, most)]),
    bucket("everybody", ofAll),
  ]);
}
