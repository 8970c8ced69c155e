// Matches some versions, and stores what has changed.
import { setImmediate as breathe } from "node:timers/promises";
import type { Services } from "../../core/context.ts";
import { groupBy } from "../../core/maps.ts";
import type { ServerTx } from "../../core/tables.ts";
import { setMatched } from "../../software/matched.ts";
import type { software } from "../../software/tables.ts";
import {
  replaceVulnerabilities,
  replaceVulnerabilitiesOfAll,
  setMetadata,
  type VulnerabilityMetadata,
} from "../../software/vulnerabilities/service.ts";
import { writeSeverities } from "../../software/vulnerabilities/severity.ts";
import { oneOf } from "../../store/query.ts";
import type { RowOf } from "../../store/table.ts";
import type { Library } from "../reference/library.ts";
import type { Found } from "./packages.ts";
import type { Releases } from "./releases.ts";
import { type Matched, matchSoftware, type SoftwareRow } from "./software.ts";
import { matchSystem, type System } from "./systems.ts";

/** Milliseconds of work between two turns of the event loop. */
const TURN = 5;
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

export interface Batch {
  readonly library: Library;
  readonly releases: Releases;
  readonly signal: AbortSignal;
  /** Written in the same transaction. */
  readonly also?: (tx: ServerTx) => Promise<unknown>;
}

/** Lets other requests be served when the turn was long enough. */
function turns(): () => Promise<void> {
  let started = performance.now();
  return async () => {
    if (performance.now() - started < TURN) return;
    await breathe();
    started = performance.now();
  };
}

/** Returns false if the signal has aborted: then nothing was stored. */
export async function matchSoftwareRows(
  services: Services,
  rows: readonly MatchedRow[],
  { library, releases, signal, also }: Batch,
): Promise<boolean> {
  const { store, log } = services;
  const turn = turns();
  const results = new Map<number, Matched>();
  for (const row of rows) {
    if (signal.aborted) return false;
    try {
      results.set(row.id, await matchSoftware(library, row, releases.of(row.id)));
    } catch (err) {
      // What was stored for it stays.
      log.warn({ err, software: row.id }, "a software version could not be matched with vulnerability data");
    }
    await turn();
  }
  const stored = await store.softwareCves.pick(["software_id", "cve", "resolved_in_version"], {
    where: oneOf("software_id", [...results.keys()]),
  });
  const before = groupBy(stored, ({ software_id }) => software_id);
  const changed = new Map<number, Found>();
  for (const [id, { found }] of results) if (differs(found, before.get(id) ?? [])) changed.set(id, found);
  const details = await detailsOf(library, freshIn(changed, before), turn);
  const known = rows.filter(
    ({ id, generated_cpe, is_matched }) => !is_matched || generated_cpe !== (results.get(id)?.cpe ?? generated_cpe),
  );

  if (changed.size + known.length === 0 && also === undefined) return true;
  await store.tx(async (tx) => {
    const wanted = new Map([...changed].map(([id, found]) => [id, listOf(found)]));
    await replaceVulnerabilitiesOfAll(tx, "software", wanted, services.clock.iso());
    if (details.length > 0) {
      await setMetadata(tx, details);
      await writeSeverities(tx, [...changed.keys()]);
    }
    await setMatched(
      tx,
      known.map(({ id, generated_cpe }) => ({ id, generated_cpe: results.get(id)?.cpe ?? generated_cpe })),
    );
    await also?.(tx);
  });
  return true;
}

interface StoredCve {
  readonly cve: string;
  readonly resolved_in_version: string | null;
}

const listOf = (found: Found) =>
  [...found].slice(0, FOUND_MAX).map(([cve, resolved_in_version]) => ({ cve, resolved_in_version }));

const differs = (found: Found, stored: readonly StoredCve[]): boolean =>
  Math.min(found.size, FOUND_MAX) !== stored.length ||
  stored.some(({ cve, resolved_in_version }) => found.get(cve) !== resolved_in_version);

function freshIn(
  changed: ReadonlyMap<number, Found>,
  before: ReadonlyMap<number, readonly StoredCve[]>,
): ReadonlySet<string> {
  const fresh = new Set<string>();
  for (const [id, found] of changed) {
    const old = new Set((before.get(id) ?? []).map(({ cve }) => cve));
    for (const cve of found.keys()) if (!old.has(cve)) fresh.add(cve);
  }
  return fresh;
}

export async function detailsOf(
  library: Library,
  cves: Iterable<string>,
  turn: () => Promise<void> = turns(),
): Promise<VulnerabilityMetadata[]> {
  const found: VulnerabilityMetadata[] = [];
  for (const cve of cves) {
    const record = await library.cve(cve);
    await turn();
    if (record === null) continue;
    found.push({
      cve,
      cvss_score: record.score ?? null,
      epss_probability: record.epss ?? null,
      cisa_known_exploit: record.kev ?? false,
      cve_published: record.published || null,
      cve_description: record.text ?? null,
    });
  }
  return found;
}

/** Operating system versions are few, and each has its own transaction. */
export async function matchSystems(
  { store, clock }: Services,
  rows: readonly (System & { readonly id: number })[],
  { library, signal }: Pick<Batch, "library" | "signal">,
): Promise<void> {
  for (const row of rows) {
    if (signal.aborted) return;
    const found = await matchSystem(library, row);
    const details = await detailsOf(library, found.keys());
    await store.tx(async (tx) => {
      await replaceVulnerabilities(tx, "os", row.id, listOf(found), clock.iso());
      await setMetadata(tx, details);
    });
    await breathe();
  }
}
