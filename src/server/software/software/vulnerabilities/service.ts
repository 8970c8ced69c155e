// What other features store of vulnerabilities: which versions have which, and what is known about them.
import { inTurns, parts } from "../../../platform/core/concurrency/parts.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { writeSeverities } from "./severity.ts";
import { requestRecount } from "./state.ts";
import { UNKNOWN_SCORE, UNKNOWN_TIME } from "./tables.ts";

export interface CveMatch {
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

interface StoredVulnerability extends CveMatch {
  readonly id: number;
  readonly version: number;
}

/** The rows of versions, whichever kind they are. */
interface Rows {
  /** The versions that are not deleted. */
  existing(versions: readonly number[]): Promise<number[]>;
  list(versions: readonly number[]): Promise<StoredVulnerability[]>;
  put(vulnerabilities: readonly Omit<StoredVulnerability, "id">[]): Promise<unknown>;
  remove(ids: readonly number[]): Promise<unknown>;
}

const columns = ["id", "cve", "resolved_in_version"] as const;

const rowsOf = {
  software: (tx: ServerTx): Rows => ({
    existing: async (versions) =>
      (await tx.software.pick(["id"], { where: oneOf("id", versions) })).map(({ id }) => id),
    list: async (versions) =>
      (await tx.softwareCves.pick([...columns, "software_id"], { where: oneOf("software_id", versions) })).map(
        ({ id, cve, resolved_in_version, software_id: version }) => ({ id, cve, resolved_in_version, version }),
      ),
    put: (vulnerabilities) =>
      tx.softwareCves.upsert(
        vulnerabilities.map(({ version: software_id, cve, resolved_in_version }) => ({
          software_id,
          cve,
          resolved_in_version,
        })),
        { on: ["software_id", "cve"], returning: [] },
      ),
    remove: (ids) => tx.softwareCves.delete(oneOf("id", ids)),
  }),
  os: (tx: ServerTx): Rows => ({
    existing: async (versions) =>
      (await tx.osVersions.pick(["id"], { where: oneOf("id", versions) })).map(({ id }) => id),
    list: async (versions) =>
      (await tx.osCves.pick([...columns, "os_version_id"], { where: oneOf("os_version_id", versions) })).map(
        ({ id, cve, resolved_in_version, os_version_id: version }) => ({ id, cve, resolved_in_version, version }),
      ),
    put: (vulnerabilities) =>
      tx.osCves.upsert(
        vulnerabilities.map(({ version: os_version_id, cve, resolved_in_version }) => ({
          os_version_id,
          cve,
          resolved_in_version,
        })),
        { on: ["os_version_id", "cve"], returning: [] },
      ),
    remove: (ids) => tx.osCves.delete(oneOf("id", ids)),
  }),
};

type Kind = keyof typeof rowsOf;

/** `replaceVulnerabilitiesOfAll` of one version. */
export const replaceVulnerabilities = (
  tx: ServerTx,
  kind: Kind,
  id: number,
  matches: readonly CveMatch[],
  now: string,
): Promise<string[]> => replaceVulnerabilitiesOfAll(tx, kind, new Map([[id, matches]]), now);

interface Change {
  /** Ids of rows. */
  readonly gone: readonly number[];
  readonly changed: readonly Omit<StoredVulnerability, "id">[];
  readonly fresh: readonly string[];
}

/** Called for each of many thousand versions, so it makes no values that it does not return. */
function changeOf(version: number, stored: readonly StoredVulnerability[], matches: readonly CveMatch[]): Change {
  const resolvedIn = new Map<string, string | null>();
  for (const { cve, resolved_in_version } of matches) resolvedIn.set(cve.toUpperCase(), resolved_in_version);
  const gone: number[] = [];
  const changed: Omit<StoredVulnerability, "id">[] = [];
  const unchanged = new Set<string>();
  for (const { id, cve, resolved_in_version: before } of stored) {
    const resolved_in_version = resolvedIn.get(cve);
    if (resolved_in_version === undefined) gone.push(id);
    else if (resolved_in_version !== before) changed.push({ version, cve, resolved_in_version });
    unchanged.add(cve);
  }
  const fresh: string[] = [];
  resolvedIn.forEach((resolved_in_version, cve) => {
    if (unchanged.has(cve)) return;
    fresh.push(cve);
    changed.push({ version, cve, resolved_in_version });
  });
  return { gone, changed, fresh };
}

/**
 * Stores which vulnerabilities software versions or operating system versions have, by their id; others that were stored
 * for them are removed. Returns the CVEs that were not stored for one of them before. Versions that were deleted
 * meanwhile are left out.
 */
export async function replaceVulnerabilitiesOfAll(
  tx: ServerTx,
  kind: Kind,
  matches: ReadonlyMap<number, readonly CveMatch[]>,
  now: string,
): Promise<string[]> {
  const { fresh, others } = await replacePairs(tx, kind, matches, now);
  if (others.length === 0) return [];
  if (kind === "software") await writeSeverities(tx, others);
  await requestRecount(tx);
  return fresh;
}

/** What a comparison of software versions with vulnerability data has found, by their ids. */
export interface Comparison {
  /** The vulnerabilities of versions that had others before. */
  readonly matches: ReadonlyMap<number, readonly CveMatch[]>;
  /** What is known about CVEs among them. */
  readonly details: readonly VulnerabilityMetadata[];
  /** The products of versions as which they were compared. */
  readonly products: ReadonlyMap<number, string>;
}

/** Stores a comparison like `replaceVulnerabilitiesOfAll`, `setMetadata` and `writeSeverities`, but writes each version once. */
export async function storeComparison(
  tx: ServerTx,
  { matches, details, products }: Comparison,
  now: string,
): Promise<void> {
  const { others } = await replacePairs(tx, "software", matches, now);
  await setMetadata(tx, details);
  await writeSeverities(tx, others, products);
  if (others.length > 0) await requestRecount(tx);
}

/** Returns CVEs that a version did not have before, and the versions that have other CVEs than before. */
async function replacePairs(
  tx: ServerTx,
  kind: Kind,
  matches: ReadonlyMap<number, readonly CveMatch[]>,
  now: string,
): Promise<{ readonly fresh: string[]; readonly others: number[] }> {
  const rows = rowsOf[kind](tx);
  const stored = groupBy(await rows.list([...matches.keys()]), ({ version }) => version);
  const changes = new Map<number, Change>();
  for await (const [version, desired] of inTurns(matches)) {
    const change = changeOf(version, stored.get(version) ?? [], desired);
    if (change.gone.length + change.changed.length > 0) changes.set(version, change);
  }
  if (changes.size === 0) return { fresh: [], others: [] };
  const existing = await rows.existing([...changes.keys()]);
  const all = existing.map((version) => changes.get(version)!);

  // In one order, so that transactions that store the same CVEs wait for each other only one way.
  const fresh = [...new Set(all.flatMap((change) => change.fresh))].sort();
  for await (const batch of parts(fresh))
    await tx.vulnerabilities.upsert(
      batch.map((cve) => ({ cve, created_at: now })),
      { on: ["cve"], set: [], returning: [] },
    );
  for await (const batch of parts(all.flatMap(({ gone }) => gone))) await rows.remove(batch);
  for await (const batch of parts(all.flatMap(({ changed }) => changed))) await rows.put(batch);
  const others = existing.filter((_, i) => all[i]!.gone.length + all[i]!.fresh.length > 0);
  return { fresh, others };
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
  for await (const batch of parts(records)) {
    const next = new Map(
      batch.map((record) => [
        record.cve.toUpperCase(),
        {
          is_described: true,
          cvss_score: record.cvss_score ?? UNKNOWN_SCORE,
          epss_probability: record.epss_probability ?? UNKNOWN_SCORE,
          cisa_known_exploit: record.cisa_known_exploit,
          cve_published: record.cve_published ?? UNKNOWN_TIME,
          cve_description: record.cve_description ?? "",
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
