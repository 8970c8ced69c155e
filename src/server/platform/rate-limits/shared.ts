// Limits that apply to all servers together: the counts are in the store and are read and written in one transaction.
import { createHash } from "node:crypto";
import { isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { limitExceeded } from "../core/errors.ts";
import { part } from "../core/running.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import { type Hit, isAhead, recent, type Window, waitOf, withHit } from "./windows.ts";

/** A counter with its limit. */
export interface Bucket extends Window {
  /** The name of the limit. Buckets that are counted together share it. */
  readonly scope: string;
  /** An address, an account, or another key that distinguishes callers. It is stored as a hash. */
  readonly key: string;
}

/** The services that limits need. The store may be a transaction's only if nothing is counted. */
export type LimitedBy = Pick<Services, "running" | "clock"> & { readonly store: ServerTx };

interface Refusal {
  readonly at: number;
  readonly until: number;
}

/** Maximum number of refusals to remember. Beyond that, the store is queried. */
const REFUSALS_MAX = 10_000;

export const hashOf = ({ scope, key }: Pick<Bucket, "scope" | "key">): string =>
  createHash("sha256").update(`${scope}\n${key}`).digest("hex");

/**
 * Per server: a refused caller is refused from memory until a slot may be free again, so that its retries do not
 * burden the store.
 */
const refusals = part("refusals", () => new Map<string, Refusal>());

/**
 * Counts one attempt in each bucket. If one of them is full, counts in none and throws a 429 with the time to wait.
 */
export async function countAttempt(home: LimitedBy, buckets: readonly [Bucket, ...Bucket[]]): Promise<void> {
  const now = home.clock.now();
  const hashed = buckets.map((bucket) => ({ bucket, hash: hashOf(bucket) }));
  const refused = home.running.of(refusals);
  const cachedWait = Math.max(0, ...hashed.map(({ hash }) => remembered(refused, hash, now)));
  if (cachedWait > 0) throw limitExceeded(Math.ceil(cachedWait / 1000));
  const waits = await home.store.tx(
    async (tx) => {
      const rows = await tx.rateLimits.list({
        where: oneOf(
          "key_hash",
          hashed.map(({ hash }) => hash),
        ),
      });
      const hits = new Map<string, readonly Hit[]>(rows.map((row) => [row.key_hash, row.hits]));
      const waits = hashed.map(({ bucket, hash }) => waitOf(hits.get(hash) ?? [], now, bucket));
      const isRefused = waits.some((wait) => wait > 0);
      const after = hashed.flatMap(({ bucket, hash }) => {
        const before = hits.get(hash) ?? [];
        if (isRefused && !isAhead(before, now)) return [];
        const kept = isRefused ? recent(before, now, bucket) : withHit(before, now, bucket);
        return [{ scope: bucket.scope, key_hash: hash, hits: kept, expires_at: isoAt(now + bucket.span) }];
      });
      if (after.length > 0) await tx.rateLimits.upsert(after, { on: ["key_hash"], returning: ["id"] });
      return waits;
    },
    { lock: `rate limit ${buckets[0].scope}` },
  );
  const wait = Math.max(...waits);
  if (wait === 0) return;
  for (const [i, wait] of waits.entries())
    if (wait > 0) remember(refused, hashed[i]!.hash, { at: now, until: now + wait });
  throw limitExceeded(Math.ceil(wait / 1000));
}

/** Clears the bucket. */
export async function forgetAttempts(home: LimitedBy, bucket: Bucket): Promise<void> {
  const hash = hashOf(bucket);
  home.running.of(refusals).delete(hash);
  await home.store.rateLimits.delete(eq("key_hash", hash));
}

/**
 * Records that an event happened; `isMarked` reports whether it did recently. Written at most once per twentieth of
 * the span.
 */
export async function mark(home: LimitedBy, bucket: Bucket): Promise<void> {
  const now = home.clock.now();
  const key_hash = hashOf(bucket);
  const row = await home.store.rateLimits.first({ where: eq("key_hash", key_hash) });
  const last = row?.hits.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY;
  if (now >= last && now - last < bucket.span / 20) return;
  const firstHit = { scope: bucket.scope, key_hash, hits: [[now, 1]] as const, expires_at: isoAt(now + bucket.span) };
  await home.store.rateLimits.upsert([firstHit], { on: ["key_hash"], returning: ["id"] });
}

export async function isMarked(home: LimitedBy, bucket: Bucket): Promise<boolean> {
  const row = await home.store.rateLimits.first({ where: eq("key_hash", hashOf(bucket)) });
  return row !== null && recent(row.hits, home.clock.now(), bucket).length > 0;
}

function remembered(refused: Map<string, Refusal>, hash: string, now: number): number {
  const refusal = refused.get(hash);
  if (!refusal) return 0;
  // If the clock was set back, the remaining time is unknown.
  if (now >= refusal.at && now < refusal.until) return refusal.until - now;
  refused.delete(hash);
  return 0;
}

function remember(refused: Map<string, Refusal>, hash: string, refusal: Refusal): void {
  refused.delete(hash);
  refused.set(hash, refusal);
  if (refused.size > REFUSALS_MAX) refused.delete(refused.keys().next().value!);
}
