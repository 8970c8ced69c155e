// The worst of each version's vulnerabilities, in its row, so that lists can be sorted and filtered by it; and that it was
// compared with vulnerability data.
import { byId } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
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

type ComparedVersion = Pick<RowOf<typeof software>, "id" | "generated_cpe" | "is_matched">;

export const notVulnerable: Omit<Severity, "id"> = {
  is_vulnerable: false,
  cvss_score: -1,
  epss_probability: -1,
  cisa_known_exploit: false,
  cve_published: "",
};

const comparedColumns = ["generated_cpe", "is_matched"] as const;
const none: ReadonlyMap<number, string> = new Map();

/**
 * Writes the severities that differ, and the products as which versions were compared. Versions that were deleted are
 * skipped.
 */
export async function writeVersions(
  tx: ServerTx,
  severities: readonly Severity[],
  products: ReadonlyMap<number, string> = none,
): Promise<void> {
  const severityOf = byId(severities);
  const where = oneOf("id", [...new Set([...severityOf.keys(), ...products.keys()])]);
  const other: Severity[] = [];
  const compared: ComparedVersion[] = [];
  const both: (Severity & ComparedVersion)[] = [];
  for (const row of await tx.software.pick([...columns, ...comparedColumns], { where })) {
    const { id } = row;
    const severity = severityOf.get(id);
    const product = products.get(id);
    const isOther = severity !== undefined && columns.some((column) => row[column] !== severity[column]);
    const isCompared = product !== undefined && !(row.is_matched && row.generated_cpe === product);
    const now = { id, generated_cpe: product ?? "", is_matched: true };
    if (isOther && isCompared) both.push({ ...severity, ...now });
    else if (isOther) other.push(severity);
    else if (isCompared) compared.push(now);
  }
  await tx.software.updateEach(both);
  await tx.software.updateEach(other);
  await tx.software.updateEach(compared);
}
