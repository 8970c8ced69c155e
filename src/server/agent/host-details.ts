import type { hostDetails } from "../hosts/tables.ts";
import type { InsertOf, RowOf } from "../store/table.ts";
import type { HostChanges } from "./inventory/host-fields.ts";
import type { Row } from "./inventory/rows.ts";

export type HostDetailsRow = InsertOf<typeof hostDetails> & { id: number };
type Details = Omit<RowOf<typeof hostDetails>, "id" | "revision">;

const nothingKnown: Details = {
  users: [],
  batteries: [],
  additional: null,
  pack_stats: null,
  certificates: null,
};

/** The row after an answer; null when the answer changes nothing in it. */
export function detailRowOf(
  id: number,
  old: RowOf<typeof hostDetails> | undefined,
  changes: HostChanges | null,
  additional: Readonly<Record<string, readonly Row[]>>,
): HostDetailsRow | null {
  const told: Partial<Details> = {};
  // Every system has users: an empty list is a failed look.
  if (changes?.users && changes.users.length > 0) told.users = changes.users;
  if (changes?.batteries) told.batteries = changes.batteries;
  if (changes?.packStats) told.pack_stats = changes.packStats;
  if (changes?.certificates && changes.certificates.length > 0) told.certificates = changes.certificates;
  if (Object.keys(additional).length > 0) told.additional = { ...old?.additional, ...additional };

  const before: Details = old ?? nothingKnown;
  const isSame = Object.entries(told).every(
    ([column, value]) => JSON.stringify(value) === JSON.stringify(before[column as keyof Details]),
  );
  return old && isSame ? null : { ...before, ...told, id };
}
