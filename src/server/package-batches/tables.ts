import type { batchStates, PackageBatch } from "../../api/package-batches.ts";
import { bool, id, int, json, packed, type RowOf, ref, table, text, time } from "../store/table.ts";
import type { Found } from "./find.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly packageBatches: typeof packageBatches;
  }
}

/** Replacements of all packages of a team. The task of each does the work. */
export const packageBatches = table("package_batches", {
  id: id(),
  uuid: text().unique(),
  created_at: time().index(),
  /** Null: for hosts without a team. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  /** Nothing is changed, but everything is downloaded and checked. */
  is_dry_run: bool(),
  status: text<(typeof batchStates)[number]>().default("processing"),
  /** Why it has failed. */
  message: text().default(""),
  total: int(),
  /** The files of the packages that are ready, in the order of the request. Empty after the end. */
  found: packed<readonly Found[]>(),
  packages: json<PackageBatch["packages"]>().nullable(),
});

export type BatchRow = RowOf<typeof packageBatches>;
