import type { batchStates, PackageBatch } from "../../../api/software/package-batches.ts";
import { bool, id, int, json, packed, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";
import type { ResolvedPackage } from "./find.ts";

declare module "../../platform/core/tables.ts" {
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
  /** Who may use the files of a request that only downloads. Null: it is another request. */
  for_user_id: int().nullable(),
  status: text<(typeof batchStates)[number]>().default("processing"),
  /** Why it has failed. */
  message: text().default(""),
  total: int(),
  /** The files of the packages that are ready, in the order of the request. Empty after the end, unless it only downloads. */
  found: packed<readonly ResolvedPackage[]>(),
  packages: json<PackageBatch["packages"]>().nullable(),
});

export type BatchRow = RowOf<typeof packageBatches>;
