// Limits over time of what a transaction adds in amounts. Simultaneous transactions may count a little too little, so that
// none of them waits for another.
import { isoAt } from "../core/clock.ts";
import type { ServerTx } from "../core/tables.ts";
import { oneOf } from "../store/query.ts";
import { type Bucket, hashOf } from "./shared.ts";
import { type Hit, leftOf, waitOf, withHit } from "./windows.ts";

interface Allowance {
  left: number;
  /** Seconds until one more is allowed, if none is left. */
  readonly wait: number;
}

const hitsOf = async (tx: ServerTx, buckets: readonly Bucket[]): Promise<ReadonlyMap<string, readonly Hit[]>> => {
  const rows = await tx.rateLimits.list({ where: oneOf("key_hash", buckets.map(hashOf)) });
  return new Map(rows.map((row) => [row.key_hash, row.hits]));
};

/** What each bucket still allows, in the order of the buckets. */
export async function allowances(tx: ServerTx, now: number, buckets: readonly Bucket[]): Promise<Allowance[]> {
  if (buckets.length === 0) return [];
  const hits = await hitsOf(tx, buckets);
  return buckets.map((bucket) => {
    const ownHits = hits.get(hashOf(bucket)) ?? [];
    return { left: leftOf(ownHits, now, bucket), wait: Math.ceil(waitOf(ownHits, now, bucket) / 1_000) };
  });
}

/** Adds amounts to the buckets. */
export async function addAmounts(
  tx: ServerTx,
  now: number,
  amounts: readonly (readonly [bucket: Bucket, amount: number])[],
): Promise<void> {
  const added = amounts.filter(([, amount]) => amount > 0);
  if (added.length === 0) return;
  const hits = await hitsOf(
    tx,
    added.map(([bucket]) => bucket),
  );
  const rows = added.map(([bucket, amount]) => {
    const key_hash = hashOf(bucket);
    const after = withHit(hits.get(key_hash) ?? [], now, bucket, amount);
    return { scope: bucket.scope, key_hash, hits: after, expires_at: isoAt(now + bucket.span) };
  });
  await tx.rateLimits.upsert(rows, { on: ["key_hash"], returning: ["id"] });
}
