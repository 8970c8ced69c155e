// Limits the failed attempts of one address in a time span. Successes are not counted, because many hosts share an
// address.
import { type Clock, isoAt, minutes } from "../core/clock.ts";
import { placeOf } from "../core/http/place.ts";
import { type Caller, isLoopback } from "../core/http/proxies.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import { hashOf } from "./shared.ts";

interface FailureLimit {
  /**
   * Counts a failure. Returns the seconds to wait if the address is over its limit, otherwise 0. Calls from this
   * machine are not limited, unless an untrusted proxy forwarded them: then all callers behind it count as one
   * address.
   */
  fail(caller: Caller): number;
  /** Resolves when this server's failures have been added to the store. */
  settled(): Promise<void>;
  /** Failures are only counted in memory from now on, because the store is closed next. */
  stop(): void;
}

interface Deps {
  readonly clock: Pick<Clock, "now">;
  readonly store: ServerTx;
}

interface FailureWindow {
  since: number;
  /** Failures on all servers, as far as this server knows. */
  failures: number;
  /** The part of them that has not been added to the store yet. */
  fresh: number;
}

interface PickedWindow {
  readonly window: FailureWindow;
  readonly added: number;
  readonly hash: string;
}

/**
 * Maximum number of addresses in one server's memory, and of rows per limit in the store. Beyond that, each server
 * counts for itself.
 */
const ADDRESSES_MAX = 50_000;
const ROWS_MAX = 10_000;
/** The store is updated at most this often and for this many addresses: those with the most failures. */
const SHARE_EVERY_MS = 1_000;
const SHARED_BATCH_SIZE = 500;

/**
 * A burst of failures must not cause a burst of writes: each server counts in memory, and about once a second adds
 * new failures to the count in the store and reads the total. So the limit applies to all servers together, except
 * for failures within that second.
 */
export function createFailureLimit(
  { clock, store }: Deps,
  { scope, most, span = minutes(1) }: { readonly scope: string; readonly most: number; readonly span?: number },
): FailureLimit {
  const windows = new Map<string, FailureWindow>();
  const fresh = new Set<string>();
  let sharing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  function windowOf(place: string, now: number): FailureWindow {
    const current = windows.get(place);
    if (current && now - current.since < span && now >= current.since) return current;
    windows.delete(place);
    if (windows.size >= ADDRESSES_MAX) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
    const created = { since: now, failures: 0, fresh: 0 };
    windows.set(place, created);
    return created;
  }

  async function share(): Promise<void> {
    const now = clock.now();
    // Hashes only those that are added: there may be a hundred times as many.
    const picked = [...fresh]
      .flatMap((place) => {
        const window = windows.get(place);
        return window && window.fresh > 0 ? [{ place, window, added: window.fresh }] : [];
      })
      .sort((a, b) => b.added - a.added)
      .slice(0, SHARED_BATCH_SIZE)
      .map((entry) => ({ ...entry, hash: hashOf({ scope, key: entry.place }) }));
    if (picked.length === 0) return fresh.clear();
    for (const { place } of picked) fresh.delete(place);
    const totals = await add(picked, now).catch((error: unknown) => {
      for (const { place } of picked) fresh.add(place);
      throw error;
    });
    for (const { window, added, hash } of picked) {
      window.fresh -= added;
      const total = totals.get(hash);
      if (!total) continue;
      window.since = total.since;
      window.failures = total.count + window.fresh;
    }
  }

  /** Adds to the counts in the store. Returns the updated counts of those for which there was room. */
  function add(picked: readonly PickedWindow[], now: number): Promise<Map<string, { since: number; count: number }>> {
    return store.tx(
      async (tx) => {
        const rows = await tx.rateLimits.list({
          where: oneOf(
            "key_hash",
            picked.map(({ hash }) => hash),
          ),
        });
        const existing = new Map(rows.map((row) => [row.key_hash, row]));
        const isNew = picked.some(({ hash }) => !existing.has(hash));
        let room = isNew ? ROWS_MAX - (await tx.rateLimits.count(eq("scope", scope))) : 0;
        const kept = picked.flatMap(({ hash, window, added }) => {
          const row = existing.get(hash);
          if (!row && room-- <= 0) return [];
          const [since, count] = row?.hits[0] ?? [0, 0];
          const lives = since <= now && now - since < span;
          return [{ hash, since: lives ? since : window.since, count: lives ? count + added : added }];
        });
        await tx.rateLimits.upsert(
          kept.map(({ hash, since, count }) => ({
            scope,
            key_hash: hash,
            hits: [[since, count]] as const,
            expires_at: isoAt(since + span),
          })),
          { on: ["key_hash"], returning: ["id"] },
        );
        return new Map(kept.map((failure) => [failure.hash, failure]));
      },
      { lock: `rate limit ${scope}` },
    );
  }

  /**
   * Updates the store immediately, but at most once a second. Failures that could not be stored are added the next
   * time.
   */
  function shareSoon(): void {
    if (isStopped) return;
    sharing ??= share()
      .catch(() => {})
      .then(() => {
        timer = setTimeout(() => {
          sharing = null;
          if (fresh.size > 0) shareSoon();
        }, SHARE_EVERY_MS).unref();
      });
  }

  return {
    fail({ address, forwarded = false }) {
      if (isLoopback(address) && !forwarded) return 0;
      const now = clock.now();
      const place = placeOf(address);
      const window = windowOf(place, now);
      window.failures++;
      window.fresh++;
      fresh.add(place);
      shareSoon();
      return window.failures > most ? Math.max(1, Math.ceil((window.since + span - now) / 1000)) : 0;
    },
    async settled() {
      while (fresh.size > 0) {
        await sharing;
        if (fresh.size > 0) await share();
      }
      await sharing;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
