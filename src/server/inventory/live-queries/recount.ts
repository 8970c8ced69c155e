// Totals and expected results of a query that stays open; they change as hosts come online and go offline.
import type { LiveTotals } from "../../../api/inventory/live-queries.ts";
import type { Context } from "../../platform/core/context.ts";
import { expectedOf } from "./ending.ts";
import { RECOUNT_EVERY_MS } from "./limits.ts";
import type { CampaignRow } from "./tables.ts";
import { resultsOf, totalsOf } from "./view.ts";

interface ExpectedTotals {
  readonly totals: LiveTotals;
  /** Online targets without a result. */
  readonly left: number;
}

interface CountedTotals extends ExpectedTotals {
  /** Results that the row had when they were counted. */
  readonly results: number;
}

type Deps = Pick<Context, "store" | "clock">;

/** Maximum share of a server's time spent on counting, for any number of targets and readers. */
const SHARE_OF_TIME = 1 / 20;

export class Recount {
  readonly #ctx: Deps;
  readonly #readers: () => number;
  #counted: CountedTotals | null = null;
  #due = 0;

  /** `readers`: number of this server's readers that keep queries open. */
  constructor(ctx: Deps, readers: () => number) {
    this.#ctx = ctx;
    this.#readers = readers;
  }

  /** Computed from the row. Null: none are left, but the last results came after the row was read: read it again. */
  async of(row: CampaignRow): Promise<ExpectedTotals | null> {
    const counted = this.#counted;
    // Between two counts every new result is assumed to be an expected one, which is wrong only for hosts that came
    // online since.
    const left = counted && counted.left - (resultsOf(row) - counted.results);
    const isKnown = counted?.left === 0 || (left !== null && left > 0);
    if (counted && isKnown && performance.now() < this.#due)
      return { totals: counted.totals, left: Math.max(0, left ?? 0) };
    return this.#count(row);
  }

  /** Milliseconds until the hosts are counted again. */
  dueIn(): number {
    return Math.max(0, this.#due - performance.now());
  }

  async #count(row: CampaignRow): Promise<ExpectedTotals | null> {
    const { store, clock } = this.#ctx;
    const began = performance.now();
    const [totals, expected] = await Promise.all([
      totalsOf({ store, clock }, row),
      store.campaignHosts.count(expectedOf(row.id, clock.now())),
    ]);
    const now = performance.now();
    this.#due = now + Math.max(RECOUNT_EVERY_MS, ((now - began) * this.#readers()) / SHARE_OF_TIME);
    if (expected === 0 && (await store.campaigns.get(row.id))?.last_seq !== row.last_seq) return null;
    this.#counted = { totals, left: expected, results: resultsOf(row) };
    return { totals, left: expected };
  }
}
