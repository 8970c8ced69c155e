import { id, int, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly vulnerabilityMatching: typeof vulnerabilityMatching;
  }
}

/** How far software has been matched with the reference data. One row, or none before the first time. */
export const vulnerabilityMatching = table("vulnerability_matching", {
  id: id(),
  /** Names reference data and rules: others need everything matched again. */
  data: text(),
  /** Names the data that the details of CVEs are from, such as their scores. */
  described: text().default(""),
  /** Software versions up to this id have been matched. */
  software_id: int(),
  /** How many versions were matched, and how many there were when it started. */
  done: int().default(0),
  total: int().default(0),
  started_at: time(),
  /** Null: not all versions have been matched with this data. */
  finished_at: time().nullable(),
});
