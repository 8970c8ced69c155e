// Vulnerabilities as replies show them.
import type { Vulnerability } from "../../../../api/hosts/host-software.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { compareText } from "../../../platform/store/rows.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { UNKNOWN_SCORE, UNKNOWN_TIME, type vulnerabilities } from "./tables.ts";

type VulnerabilityRow = RowOf<typeof vulnerabilities>;
type DescribedRow = Pick<
  VulnerabilityRow,
  "is_described" | "cvss_score" | "epss_probability" | "cisa_known_exploit" | "cve_published" | "cve_description"
>;

export const linkOf = (cve: string): string => `https://nvd.nist.gov/vuln/detail/${encodeURIComponent(cve)}`;

export type CveDetails = Required<
  Pick<Vulnerability, "cvss_score" | "epss_probability" | "cisa_known_exploit" | "cve_published" | "cve_description">
>;

/** Premium fields. Null: not known. */
export function detailsOf(row: DescribedRow | undefined): CveDetails {
  if (!row?.is_described)
    return {
      cvss_score: null,
      epss_probability: null,
      cisa_known_exploit: null,
      cve_published: null,
      cve_description: null,
    };
  return {
    cvss_score: row.cvss_score === UNKNOWN_SCORE ? null : row.cvss_score,
    epss_probability: row.epss_probability === UNKNOWN_SCORE ? null : row.epss_probability,
    cisa_known_exploit: row.cisa_known_exploit,
    cve_published: row.cve_published === UNKNOWN_TIME ? null : row.cve_published,
    cve_description: row.cve_description === "" ? null : row.cve_description,
  };
}

/** A vulnerability of one version. */
export interface VersionCve {
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

/** The vulnerabilities of each software version that has any, ordered by CVE. */
export async function ownCves(
  { softwareCves }: Pick<ServerTx, "softwareCves">,
  versionIds: Iterable<number>,
): Promise<Map<number, VersionCve[]>> {
  const cvesByVersion = new Map<number, VersionCve[]>();
  for await (const batch of parts([...new Set(versionIds)])) {
    const rows = await softwareCves.pick(["software_id", "cve", "resolved_in_version"], {
      where: oneOf("software_id", batch),
    });
    for (const [id, cves] of groupBy(rows, ({ software_id }) => software_id)) cvesByVersion.set(id, cves);
  }
  for (const cves of cvesByVersion.values()) cves.sort((a, b) => compareText(a.cve, b.cve));
  return cvesByVersion;
}

/** Renders vulnerabilities of versions; reads what is known about these CVEs once. Dated: with the first finding. */
export async function vulnerabilityRenderer(
  ctx: Pick<Context, "license"> & { readonly store: Pick<ServerTx, "vulnerabilities"> },
  versionCves: Iterable<VersionCve>,
  { isDated = false } = {},
): Promise<(versionCve: VersionCve) => Vulnerability> {
  const premium = isPremium(ctx);
  const rows = new Map<string, VulnerabilityRow>();
  if (premium || isDated)
    for await (const batch of parts([...new Set([...versionCves].map(({ cve }) => cve))]))
      for (const row of await ctx.store.vulnerabilities.list({ where: oneOf("cve", batch) })) rows.set(row.cve, row);
  return ({ cve, resolved_in_version }) => {
    const row = rows.get(cve);
    return {
      cve,
      details_link: linkOf(cve),
      ...(premium ? { ...detailsOf(row), resolved_in_version } : {}),
      ...(isDated && row ? { created_at: row.created_at } : {}),
    };
  };
}
