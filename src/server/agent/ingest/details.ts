import type { Row } from "../../agent-protocol/rows.ts";
import type { HostDetailsRow } from "../../hosts/details.ts";
import type { hostDetails } from "../../hosts/tables.ts";
import type { RowOf } from "../../store/table.ts";
import type { HostChanges } from "../inventory/host-fields.ts";

type Details = Omit<RowOf<typeof hostDetails>, "id" | "revision">;

const nothingKnown: Details = {
  users: [],
  batteries: [],
  additional: null,
  pack_stats: null,
  certificates: null,
};

/** The merged row; null if the results change nothing. */
export function detailRowOf(
  id: number,
  old: RowOf<typeof hostDetails> | undefined,
  changes: HostChanges | null,
  additional: Readonly<Record<string, readonly Row[]>>,
): HostDetailsRow | null {
  const reported: Partial<Details> = {};
  // Every system has users, so an empty list means that the query failed.
  if (changes?.users && changes.users.length > 0) reported.users = changes.users;
  if (changes?.batteries) reported.batteries = changes.batteries;
  if (changes?.packStats) reported.pack_stats = changes.packStats;
  if (changes?.certificates && changes.certificates.length > 0) reported.certificates = changes.certificates;
  if (Object.keys(additional).length > 0) reported.additional = { ...old?.additional, ...additional };

  const before: Details = old ?? nothingKnown;
  const isSame = Object.entries(reported).every(
    ([column, value]) => JSON.stringify(value) === JSON.stringify(before[column as keyof Details]),
  );
  return old && isSame ? null : { ...before, ...reported, id };
}
