// Matches some versions, and stores what has changed.

import { giveWay, parts, turns } from "../../../platform/core/concurrency/parts.ts";
import type { Services } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { software } from "../../software/tables.ts";
import {
  type Comparison,
  type CveMatch,
  replaceVulnerabilities,
  setMetadata,
  storeComparison,
  type VulnerabilityMetadata,
} from "../../software/vulnerabilities/service.ts";
import type { Comparer } from "./compare.ts";
import type { CveFixes, MatchedSoftware, SoftwareRow } from "./matched-software.ts";
import type { Releases } from "./releases.ts";
import type { System } from "./systems.ts";

/**
 * Versions and their vulnerabilities that are stored in one transaction. Postgres writes them in another process, and
 * each statement has a price.
 */
const BATCH_SIZE_BY_ENGINE = { lowdb: 50, postgres: 200 } as const;
/** More vulnerabilities of one version are left out. */
const FOUND_MAX = 10_000;

export type MatchedRow = SoftwareRow & Pick<RowOf<typeof software>, "id" | "generated_cpe" | "is_matched">;

export const softwareColumns = [
  "id",
  "name",
  "version",
  "source",
  "bundle_identifier",
  "extension_for",
  "release",
  "vendor",
  "source_package",
  "generated_cpe",
  "is_matched",
] as const;

interface Sought {
  readonly comparer: Comparer;
  readonly releases: Releases;
}

export interface Batch extends Sought {
  readonly signal: AbortSignal;
  /** Called after each transaction. */
  readonly step: () => Promise<void>;
  /** Written when everything else is stored. */
  readonly also?: (tx: ServerTx) => Promise<unknown>;
}

/** Versions, and what has been found for them. */
export interface ComparedBatch {
  readonly rows: readonly MatchedRow[];
  readonly results: ReadonlyMap<number, MatchedSoftware>;
}

/** A version that cannot be compared is logged, and what was stored for it stays. */
export async function compareRows(
  { log }: Pick<Services, "log">,
  rows: readonly MatchedRow[],
  { comparer, releases }: Sought,
): Promise<ComparedBatch> {
  const { results, failed } = await comparer.compare(
    rows.map(({ generated_cpe, is_matched, ...row }) => ({ ...row, releases: releases.of(row.id) })),
  );
  for (const { id, reason } of failed)
    log.warn({ software: id, reason }, "a software version could not be matched with vulnerability data");
  return { rows, results };
}

/** Returns false if the signal has aborted: then not all of it was stored, and nothing of `also`. */
export async function storeResults(
  services: Services,
  { rows, results }: ComparedBatch,
  { comparer, signal, step, also }: Omit<Batch, "releases">,
): Promise<boolean> {
  const { store } = services;
  const turn = turns();
  const stored = await store.softwareCves.pick(["software_id", "cve", "resolved_in_version"], {
    where: oneOf("software_id", [...results.keys()]),
  });
  await turn();
  const before = groupBy(stored, ({ software_id }) => software_id);
  const changed = new Map<number, CveFixes>();
  for (const [id, { cves }] of results) {
    if (differs(cves, before.get(id) ?? [])) changed.set(id, cves);
    await turn();
  }
  const fresh = freshIn(changed, before);
  const details = byCve(await comparer.describe([...(await notDescribed(store, fresh))]));
  const other = rows.filter(
    ({ id, generated_cpe, is_matched }) =>
      changed.has(id) || !is_matched || generated_cpe !== (results.get(id)?.cpe ?? generated_cpe),
  );
  const now = services.clock.iso();
  for (const batch of groupsOf(other, changed, BATCH_SIZE_BY_ENGINE[store.engine])) {
    if (signal.aborted) return false;
    await store.tx((tx) => storeComparison(tx, comparisonOf(batch, results, changed, details), now));
    await step();
  }
  if (also !== undefined) await store.tx(also);
  return true;
}

/** Splits the versions by what is to be stored: while a transaction runs, other requests may have to wait. */
function* groupsOf(
  rows: readonly MatchedRow[],
  changed: ReadonlyMap<number, CveFixes>,
  most: number,
): Generator<readonly MatchedRow[]> {
  let group: MatchedRow[] = [];
  let weight = 0;
  for (const row of rows) {
    group.push(row);
    weight += 1 + (changed.get(row.id)?.size ?? 0);
    if (weight < most) continue;
    yield group;
    group = [];
    weight = 0;
  }
  if (group.length > 0) yield group;
}

function comparisonOf(
  rows: readonly MatchedRow[],
  results: ReadonlyMap<number, MatchedSoftware>,
  changed: ReadonlyMap<number, CveFixes>,
  details: ReadonlyMap<string, VulnerabilityMetadata>,
): Comparison {
  const matches = new Map<number, readonly CveMatch[]>();
  const products = new Map<number, string>();
  const described = new Map<string, VulnerabilityMetadata>();
  for (const { id, generated_cpe } of rows) {
    products.set(id, results.get(id)?.cpe ?? generated_cpe);
    const cves = changed.get(id);
    if (cves === undefined) continue;
    matches.set(id, storedForm(cves));
    for (const cve of cves.keys()) {
      const metadata = details.get(cve);
      if (metadata !== undefined) described.set(cve, metadata);
    }
  }
  return { matches, details: [...described.values()], products };
}

const byCve = (details: readonly VulnerabilityMetadata[]): ReadonlyMap<string, VulnerabilityMetadata> =>
  new Map(details.map((metadata) => [metadata.cve, metadata]));

/** The CVEs of which nothing is stored yet. The others are described again after a comparison (run.ts). */
async function notDescribed(store: ServerTx, cves: ReadonlySet<string>): Promise<Set<string>> {
  const undescribed = new Set(cves);
  for await (const batch of parts([...cves])) {
    const where = and(oneOf("cve", batch), eq("is_described", true));
    for (const { cve } of await store.vulnerabilities.pick(["cve"], { where })) undescribed.delete(cve);
  }
  return undescribed;
}

interface StoredCve {
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

const storedForm = (cves: CveFixes) =>
  [...cves].slice(0, FOUND_MAX).map(([cve, resolved_in_version]) => ({ cve, resolved_in_version }));

const differs = (cves: CveFixes, stored: readonly StoredCve[]): boolean =>
  Math.min(cves.size, FOUND_MAX) !== stored.length ||
  stored.some(({ cve, resolved_in_version }) => cves.get(cve) !== resolved_in_version);

function freshIn(
  changed: ReadonlyMap<number, CveFixes>,
  before: ReadonlyMap<number, readonly StoredCve[]>,
): ReadonlySet<string> {
  const fresh = new Set<string>();
  for (const [id, cves] of changed) {
    const old = new Set((before.get(id) ?? []).map(({ cve }) => cve));
    for (const cve of cves.keys()) if (!old.has(cve)) fresh.add(cve);
  }
  return fresh;
}

/** Operating system versions are few, and each has its own transaction. */
export async function matchSystems(
  { store, clock }: Services,
  rows: readonly (System & { readonly id: number })[],
  { comparer, signal }: Pick<Batch, "comparer" | "signal">,
): Promise<void> {
  for (const row of rows) {
    if (signal.aborted) return;
    const cves = await comparer.compareSystem(row);
    const details = await comparer.describe([...cves.keys()]);
    await store.tx(async (tx) => {
      await replaceVulnerabilities(tx, "os", row.id, storedForm(cves), clock.iso());
      await setMetadata(tx, details);
    });
    await giveWay();
  }
}
