// The worst of each software version's vulnerabilities.
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { gt, oneOf } from "../../../platform/store/query.ts";
import { requestRecount } from "./state.ts";
import { notVulnerable, type Severity, writeVersions } from "./write-severities.ts";

type CveSeverity = Omit<Severity, "id" | "is_vulnerable">;

const severityColumns = ["cve", "cvss_score", "epss_probability", "cisa_known_exploit", "cve_published"] as const;

/**
 * Must run in the transaction that changes the vulnerabilities of these versions. Versions of which products are given
 * were compared with vulnerability data as these.
 */
export async function writeSeverities(
  tx: ServerTx,
  softwareIds: readonly number[],
  products?: ReadonlyMap<number, string>,
): Promise<void> {
  const pairs = await tx.softwareCves.pick(["software_id", "cve"], { where: oneOf("software_id", softwareIds) });
  const cves = [...new Set(pairs.map(({ cve }) => cve))];
  const details = new Map<string, CveSeverity>();
  for await (const batch of parts(cves))
    for (const row of await tx.vulnerabilities.pick(severityColumns, { where: oneOf("cve", batch) }))
      details.set(row.cve, row);
  await writeVersions(tx, worstOf(softwareIds, pairs, details), products);
}

function worstOf(
  ids: readonly number[],
  pairs: readonly { software_id: number; cve: string }[],
  details: ReadonlyMap<string, CveSeverity>,
): Severity[] {
  const worst = new Map<number, Severity>(ids.map((id) => [id, { id, ...notVulnerable }]));
  for (const { software_id: id, cve } of pairs) {
    const before = worst.get(id) ?? { id, ...notVulnerable };
    const severity = details.get(cve) ?? notVulnerable;
    worst.set(id, {
      id,
      is_vulnerable: true,
      cvss_score: Math.max(before.cvss_score, severity.cvss_score),
      epss_probability: Math.max(before.epss_probability, severity.epss_probability),
      cisa_known_exploit: before.cisa_known_exploit || severity.cisa_known_exploit,
      cve_published: before.cve_published > severity.cve_published ? before.cve_published : severity.cve_published,
    });
  }
  return [...worst.values()];
}

/** Versions at once: each may have thousands of vulnerabilities. */
const BATCH_SIZE = 100;

/** Corrects all versions, after other data about vulnerabilities was stored. */
export async function correctSeverities(store: ServerTx, signal?: AbortSignal): Promise<void> {
  for (let last = 0; !signal?.aborted; ) {
    const ids = (
      await store.software.pick(["id"], {
        where: gt("id", last),
        order: [{ column: "id", direction: "asc" }],
        limit: BATCH_SIZE,
      })
    ).map(({ id }) => id);
    // The severity decides, too, which vulnerabilities of hosts are critical.
    if (ids.length === 0) return store.tx(requestRecount);
    await store.tx((tx) => writeSeverities(tx, ids));
    last = ids.at(-1)!;
  }
}
