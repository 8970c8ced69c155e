// The worst of each version's vulnerabilities, in its row, so that lists can be sorted and filtered by it.
import type { ServerTx } from "../../core/tables.ts";
import { oneOf } from "../../store/query.ts";
import type { RowOf } from "../../store/table.ts";
import type { software } from "../tables.ts";

const columns = [
  "id",
  "is_vulnerable",
  "cvss_score",
  "epss_probability",
  "cisa_known_exploit",
  "cve_published",
] as const;

export type Severity = Pick<RowOf<typeof software>, (typeof columns)[number]>;

export const notVulnerable: Omit<Severity, "id"> = {
  is_vulnerable: false,
  cvss_score: -1,
  epss_probability: -1,
  cisa_known_exploit: false,
  cve_published: "",
};

/** Writes those that differ. Versions that were deleted are skipped. */
export async function setSeverities(tx: ServerTx, severities: readonly Severity[]): Promise<void> {
  const where = oneOf(
    "id",
    severities.map(({ id }) => id),
  );
  const stored = new Map((await tx.software.pick(columns, { where })).map((row) => [row.id, row]));
  await tx.software.updateEach(
    severities.filter((next) => {
      const row = stored.get(next.id);
      return row !== undefined && columns.some((column) => row[column] !== next[column]);
    }),
  );
}
