// Totals and expected results of a query that stays open; they change as hosts come online and go offline.
import type { LiveTotals } from "../../../api/inventory/live-queries.ts";
import type { Context } from "../../platform/core/context.ts";
import { expectedOf } from "./ending.ts";
import { RECOUNT_EVERY_MS } from "./limits.ts";
import { resultsOf, totalsOf } from "./view.ts";
import type { CampaignRow } from "./work.ts";

interface ExpectedTotals {
  readonly totals: LiveTotals;
  /** Online targets without a result. */
  readonly left: number;
}

interface Recount {
  /** Computed from the row. Null: none are left, but the last results came after the row was read: read it again. */
  of(row: CampaignRow): Promise<ExpectedTotals | null>;
  /** Milliseconds until the hosts are counted again. */
  dueIn(): number;
}

/** Maximum share of a server's time spent on counting, for any number of targets and readers. */
const SHARE_OF_TIME = 1 / 20;

/** `readers`: number of this server's readers that keep queries open. */
export function createRecount({ store, clock }: Pick<Context, "store" | "clock">, readers: () => number): Recount {
  let counted: { readonly totals: LiveTotals; readonly left: number; readonly results: number } | null = null;
  let due = 0;

  return {
    async of(row) {
      // Between two counts every new result is assumed to be an expected one, which is wrong only for hosts that came
      // online since.
      const left = counted && counted.left - (resultsOf(row) - counted.results);
      const isKnown = counted?.left === 0 || (left !== null && left > 0);
      if (counted && isKnown && performance.now() < due)
        return { totals: counted.totals, left: Math.max(0, left ?? 0) };
      const began = performance.now();
      const [totals, expected] = await Promise.all([
        totalsOf({ store, clock }, row),
        store.campaignHosts.count(expectedOf(row.id, clock.now())),
      ]);
      const now = performance.now();
      due = now + Math.max(RECOUNT_EVERY_MS, ((now - began) * readers()) / SHARE_OF_TIME);
      if (expected === 0 && (await store.campaigns.get(row.id))?.last_seq !== row.last_seq) return null;
      counted = { totals, left: expected, results: resultsOf(row) };
      return { totals, left: expected };
    },
    dueIn: () => Math.max(0, due - performance.now()),
  };
}
