import type { HistoryDataset } from "../../../api/settings/history-settings.ts";
import { id, int, packed, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly historyHours: typeof historyHours;
    readonly historySamples: typeof historySamples;
    readonly historyCleared: typeof historyCleared;
  }
}

/** The hosts for which something was true at any moment of an hour. No row: none. */
export const historyHours = table(
  "history_hours",
  {
    id: id(),
    metric: text(),
    hour: time().index(),
    /** A set of host ids, see host-set.ts. */
    hosts: packed<string>(),
  },
  { unique: [["metric", "hour"]] },
);

/** When each metric was last recorded. */
export const historySamples = table("history_samples", { id: id(), metric: text().unique(), sampled_at: time() });

/**
 * Scopes (a team's id, or `ALL_HOSTS`) in which a dataset is turned off, and whose data was deleted since. The next
 * deletion is due when the row has gone because it was turned on again.
 */
export const historyCleared = table(
  "history_cleared",
  { id: id(), dataset: text<HistoryDataset>(), scope: int(), cleared_at: time() },
  { unique: [["dataset", "scope"]] },
);
