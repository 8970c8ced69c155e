import type { RowOf } from "../../../platform/store/table.ts";
import type { HostDetailsRow } from "../details.ts";
import type { hostDetails } from "../tables.ts";

export type HostDetails = Omit<RowOf<typeof hostDetails>, "id" | "revision">;

const nothingKnown: HostDetails = {
  users: [],
  batteries: [],
  additional: null,
  pack_stats: null,
  certificates: null,
};

/** The merged row; null if the report changes nothing. */
export function detailRowOf(
  id: number,
  old: RowOf<typeof hostDetails> | undefined,
  reported: Partial<HostDetails>,
): HostDetailsRow | null {
  const before: HostDetails = old ?? nothingKnown;
  const isSame = Object.entries(reported).every(
    ([column, value]) => JSON.stringify(value) === JSON.stringify(before[column as keyof HostDetails]),
  );
  return old && isSame ? null : { ...before, ...reported, id };
}
