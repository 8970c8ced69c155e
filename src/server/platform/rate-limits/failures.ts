// Limits the failed attempts of one address in a time span. Successes are not counted, because many hosts share an
// address.
import { type Clock, isoAt, minutes } from "../core/clock.ts";
import { placeOf } from "../core/http/place.ts";
import { type Caller, isLoopback } from "../core/http/proxies.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import { hashOf } from "./shared.ts";

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
  readonly place: string;
  readonly window: FailureWindow;
  readonly added: number;
  readonly hash: string;
}

interface SharedCount {
  readonly hash: string;
  readonly since: number;
  readonly count: number;
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

interface FailureLimitOptions {
  readonly scope: string;
  readonly most: number;
  readonly span?: number;
}

/**
 * A burst of failures must not cause a burst of writes: each server counts in memory, and about once a second adds
 * new failures to the count in the store and reads the total. So the limit applies to all servers together, except
 * for failures within that second.
 */
export class FailureLimit {
  readonly #clock: Deps["clock"];
  readonly #store: ServerTx;
  readonly #scope: string;
  readonly #most: number;
  readonly #span: number;
  readonly #windows = new Map<string, FailureWindow>();
  /** The addresses with failures that are not in the store yet. */
  readonly #unshared = new Set<string>();
  #sharing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({ clock, store }: Deps, { scope, most, span = minutes(1) }: FailureLimitOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#scope = scope;
    this.#most = most;
    this.#span = span;
  }

  /**
   * Counts a failure. Returns the seconds to wait if the address is over its limit, otherwise 0. Calls from this
   * machine are not limited, unless an untrusted proxy forwarded them: then all callers behind it count as one
   * address.
   */
  fail({ address, forwarded = false }: Caller): number {
    if (isLoopback(address) && !forwarded) return 0;
    const now = this.#clock.now();
    const place = placeOf(address);
    const window = this.#windowOf(place, now);
    window.failures++;
    window.fresh++;
    this.#unshared.add(place);
    this.#shareSoon();
    return window.failures > this.#most ? Math.max(1, Math.ceil((window.since + this.#span - now) / 1000)) : 0;
  }

  /** Resolves when this server's failures have been added to the store. */
  async settled(): Promise<void> {
    while (this.#unshared.size > 0) {
      await this.#sharing;
      if (this.#unshared.size > 0) await this.#share();
    }
    await this.#sharing;
  }

  /** Failures are only counted in memory from now on, because the store is closed next. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #windowOf(place: string, now: number): FailureWindow {
    const windows = this.#windows;
    const current = windows.get(place);
    if (current && this.#lasts(current.since, now)) return current;
    windows.delete(place);
    if (windows.size >= ADDRESSES_MAX) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
    const created = { since: now, failures: 0, fresh: 0 };
    windows.set(place, created);
    return created;
  }

  #lasts(since: number, now: number): boolean {
    return since <= now && now - since < this.#span;
  }

  /**
   * Updates the store immediately, but at most once a second. Failures that could not be stored are added the next
   * time.
   */
  #shareSoon(): void {
    if (this.#isStopped) return;
    this.#sharing ??= this.#share()
      .catch(() => {})
      .then(() => {
        this.#timer = setTimeout(() => {
          this.#sharing = null;
          if (this.#unshared.size > 0) this.#shareSoon();
        }, SHARE_EVERY_MS).unref();
      });
  }

  async #share(): Promise<void> {
    const now = this.#clock.now();
    const picked = this.#mostFailing();
    if (picked.length === 0) return this.#unshared.clear();
    for (const { place } of picked) this.#unshared.delete(place);
    const totals = await this.#addToStore(picked, now).catch((error: unknown) => {
      for (const { place } of picked) this.#unshared.add(place);
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

  #mostFailing(): PickedWindow[] {
    // Hashes only those that are added: there may be a hundred times as many.
    return [...this.#unshared]
      .flatMap((place) => {
        const window = this.#windows.get(place);
        return window && window.fresh > 0 ? [{ place, window, added: window.fresh }] : [];
      })
      .sort((a, b) => b.added - a.added)
      .slice(0, SHARED_BATCH_SIZE)
      .map((entry) => ({ ...entry, hash: hashOf({ scope: this.#scope, key: entry.place }) }));
  }

  /** Adds to the counts in the store. Returns the updated counts of those for which there was room. */
  #addToStore(picked: readonly PickedWindow[], now: number): Promise<Map<string, SharedCount>> {
    return this.#store.tx(
      async (tx) => {
        const counts = await this.#countsWith(tx, picked, now);
        await tx.rateLimits.upsert(
          counts.map(({ hash, since, count }) => ({
            scope: this.#scope,
            key_hash: hash,
            hits: [[since, count]] as const,
            expires_at: isoAt(since + this.#span),
          })),
          { on: ["key_hash"], returning: ["id"] },
        );
        return new Map(counts.map((shared) => [shared.hash, shared]));
      },
      { lock: `rate limit ${this.#scope}` },
    );
  }

  /** The counts in the store with these failures added. New addresses get a row while there is room for it. */
  async #countsWith(tx: ServerTx, picked: readonly PickedWindow[], now: number): Promise<SharedCount[]> {
    const rows = await tx.rateLimits.list({
      where: oneOf(
        "key_hash",
        picked.map(({ hash }) => hash),
      ),
    });
    const existing = new Map(rows.map((row) => [row.key_hash, row]));
    const isNew = picked.some(({ hash }) => !existing.has(hash));
    let room = isNew ? ROWS_MAX - (await tx.rateLimits.count(eq("scope", this.#scope))) : 0;
    return picked.flatMap(({ hash, window, added }) => {
      const row = existing.get(hash);
      if (!row && room-- <= 0) return [];
      const [since, count] = row?.hits[0] ?? [0, 0];
      return this.#lasts(since, now)
        ? [{ hash, since, count: count + added }]
        : [{ hash, since: window.since, count: added }];
    });
  }
}
