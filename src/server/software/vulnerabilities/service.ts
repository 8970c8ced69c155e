// What other features store of vulnerabilities: which versions have which, and what is known about them.
import { parts } from "../../core/concurrency/parts.ts";
import type { ServerTx } from "../../core/tables.ts";
import { eq, oneOf } from "../../store/query.ts";
import { writeSeverities } from "./severity.ts";
import { requestRecount } from "./state.ts";
import { UNKNOWN_SCORE, UNKNOWN_TIME } from "./tables.ts";

export interface FoundVulnerability {
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

interface Stored {
  readonly id: number;
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

/** The rows of one version, whichever kind it is. */
interface Rows {
  exists(): Promise<boolean>;
  list(): Promise<Stored[]>;
  put(found: readonly FoundVulnerability[]): Promise<unknown>;
  remove(ids: readonly number[]): Promise<unknown>;
}

const columns = ["id", "cve", "resolved_in_version"] as const;

const rowsOf = {
  software: (tx: ServerTx, id: number): Rows => ({
    exists: async () => (await tx.software.count(eq("id", id))) > 0,
    list: () => tx.softwareCves.pick(columns, { where: eq("software_id", id) }),
    put: (found) =>
      tx.softwareCves.upsert(
        found.map((one) => ({ ...one, software_id: id })),
        { on: ["software_id", "cve"], returning: [] },
      ),
    remove: (ids) => tx.softwareCves.delete(oneOf("id", ids)),
  }),
  os: (tx: ServerTx, id: number): Rows => ({
    exists: async () => (await tx.osVersions.count(eq("id", id))) > 0,
    list: () => tx.osCves.pick(columns, { where: eq("os_version_id", id) }),
    put: (found) =>
      tx.osCves.upsert(
        found.map((one) => ({ ...one, os_version_id: id })),
        { on: ["os_version_id", "cve"], returning: [] },
      ),
    remove: (ids) => tx.osCves.delete(oneOf("id", ids)),
  }),
};

/**
 * Stores which vulnerabilities a software version or operating system version has; others that were stored are removed.
 * Returns the CVEs that were not stored for it before. A version that was deleted meanwhile is left out.
 */
export async function replaceVulnerabilities(
  tx: ServerTx,
  kind: keyof typeof rowsOf,
  id: number,
  found: readonly FoundVulnerability[],
  now: string,
): Promise<string[]> {
  const rows = rowsOf[kind](tx, id);
  const wanted = new Map(found.map(({ cve, resolved_in_version }) => [cve.toUpperCase(), resolved_in_version]));
  const stored = new Map((await rows.list()).map((row) => [row.cve, row]));
  const gone = [...stored.values()].filter(({ cve }) => !wanted.has(cve)).map((row) => row.id);
  const changed = [...wanted].filter(([cve, resolved]) => stored.get(cve)?.resolved_in_version !== resolved);
  const fresh = [...wanted.keys()].filter((cve) => !stored.has(cve));
  if (gone.length === 0 && changed.length === 0) return [];
  if (!(await rows.exists())) return [];

  for await (const some of parts(fresh))
    await tx.vulnerabilities.upsert(
      some.map((cve) => ({ cve, created_at: now })),
      { on: ["cve"], set: [], returning: [] },
    );
  for await (const some of parts(gone)) await rows.remove(some);
  for await (const some of parts(changed))
    await rows.put(some.map(([cve, resolved_in_version]) => ({ cve, resolved_in_version })));
  if (gone.length === 0 && fresh.length === 0) return [];
  if (kind === "software") await writeSeverities(tx, [id]);
  await requestRecount(tx);
  return fresh;
}

/** What is known about a CVE. Null: not known. */
export interface VulnerabilityMetadata {
  readonly cve: string;
  readonly cvss_score: number | null;
  readonly epss_probability: number | null;
  readonly cisa_known_exploit: boolean;
  readonly cve_published: string | null;
  readonly cve_description: string | null;
}

/**
 * Stores what is known about CVEs that affect or affected something; others are left out. Call `correctSeverities`
 * (severity.ts) afterwards, once for all of them. Returns how many were changed.
 */
export async function setMetadata(tx: ServerTx, records: readonly VulnerabilityMetadata[]): Promise<number> {
  let changed = 0;
  for await (const some of parts(records)) {
    const next = new Map(
      some.map((one) => [
        one.cve.toUpperCase(),
        {
          is_described: true,
          cvss_score: one.cvss_score ?? UNKNOWN_SCORE,
          epss_probability: one.epss_probability ?? UNKNOWN_SCORE,
          cisa_known_exploit: one.cisa_known_exploit,
          cve_published: one.cve_published ?? UNKNOWN_TIME,
          cve_description: one.cve_description ?? "",
        },
      ]),
    );
    const stored = await tx.vulnerabilities.list({ where: oneOf("cve", [...next.keys()]) });
    const differing = stored.flatMap((row) => {
      const set = next.get(row.cve)!;
      const isSame = (Object.keys(set) as (keyof typeof set)[]).every((column) => row[column] === set[column]);
      return isSame ? [] : [{ id: row.id, ...set }];
    });
    changed += await tx.vulnerabilities.updateEach(differing);
  }
  return changed;
}
