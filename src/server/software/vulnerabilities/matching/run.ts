// Matches all versions again after an import.
import { createHash } from "node:crypto";
import { channels } from "../../../platform/core/channels.ts";
import { ahead, steps } from "../../../platform/core/concurrency/parts.ts";
import type { Services } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, gt } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { setMetadata } from "../../software/vulnerabilities/service.ts";
import { correctSeverities } from "../../software/vulnerabilities/severity.ts";
import { dataOf, sourcesIn } from "../reference/sources.ts";
import { comparerApart } from "./apart.ts";
import {
  type Batch,
  type ComparedBatch,
  compareRows,
  type MatchedRow,
  matchSystems,
  softwareColumns,
  storeResults,
} from "./batch.ts";
import type { Comparer } from "./compare.ts";
import { allReleases, releasesOf } from "./releases.ts";
import type { vulnerabilityMatching } from "./tables.ts";

/** Increased with every change of rules that should be applied to software that was matched before. */
const RULES_VERSION = "2";
/** Versions that are in memory at the same time. */
const BATCH_SIZE = 200;
/** CVEs that are described in one transaction. */
const CVES_PER_TRANSACTION = 100;
const inOrder = [{ column: "id", direction: "asc" }] as const;

type Pace = Pick<Batch, "signal" | "step">;
type Progress = RowOf<typeof vulnerabilityMatching>;

export const progressOf = ({ store }: { readonly store: ServerTx }): Promise<Progress | null> =>
  store.vulnerabilityMatching.first({});

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Scores and exploits change daily, and are not what software is compared with. */
const comparedIn = (data: string): string =>
  digest(
    `${RULES_VERSION} ${data
      .split(" ")
      .filter((blob) => !/\/(?:kev|epss)\./.test(blob))
      .join(" ")}`,
  );

/** Matches what is not yet matched with the imported data. A run that was interrupted is continued. */
export async function matchAll(services: Services, signal: AbortSignal): Promise<void> {
  const sources = await sourcesIn(services);
  const data = dataOf(sources);
  if (data === "" || signal.aborted) return;
  const comparer = comparerApart(services, sources, signal);
  const pace: Pace = { signal, step: steps() };
  try {
    const progress = await begin(services, comparedIn(data));
    if (progress.finished_at === null) {
      await matchSystems(services, await services.store.osVersions.list(), { comparer, signal });
      if (!(await matchVersions(services, comparer, progress, pace))) return;
      await describe(services, { data, comparer }, signal);
      if (!signal.aborted) await finish(services, progress);
    }
    await matchNew(services, comparer, pace);
    await describe(services, { data, comparer }, signal);
  } finally {
    await comparer.close();
  }
}

async function begin({ store, clock }: Services, data: string): Promise<Progress> {
  return store.tx(
    async (tx) => {
      const old = await tx.vulnerabilityMatching.first({});
      if (old?.data === data) return old;
      const total = await tx.software.count();
      const values = { data, software_id: 0, done: 0, total, started_at: clock.iso(), finished_at: null };
      if (old === null) return tx.vulnerabilityMatching.insert(values);
      await tx.vulnerabilityMatching.update({ where: eq("id", old.id), set: values });
      return { ...old, ...values };
    },
    { lock: "vulnerability_matching" },
  );
}

const isStill = ({ id, data }: Progress) => and(eq("id", id), eq("data", data));

/** Returns whether all versions were matched. While a batch is stored, the next one is compared. */
async function matchVersions(services: Services, comparer: Comparer, progress: Progress, pace: Pace): Promise<boolean> {
  const releases = await allReleases(services.store, pace.signal);
  let { done } = progress;
  for await (const batch of ahead(comparedFrom(services, progress.software_id, { comparer, releases }))) {
    done += batch.rows.length;
    const set = { software_id: batch.rows.at(-1)!.id, done };
    const also: Batch["also"] = (tx) => tx.vulnerabilityMatching.update({ where: isStill(progress), set });
    if (!(await storeResults(services, batch, { ...pace, comparer, also }))) return false;
  }
  return true;
}

async function* comparedFrom(
  services: Services,
  first: number,
  sought: Pick<Batch, "comparer" | "releases">,
): AsyncGenerator<ComparedBatch, void, undefined> {
  for (let last = first; ; ) {
    const rows = await nextVersions(services, last);
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    yield await compareRows(services, rows, sought);
  }
}

/** From now on, hosts are counted with what was found. */
async function finish({ store, clock }: Services, progress: Progress): Promise<void> {
  await store.vulnerabilityMatching.update({ where: isStill(progress), set: { finished_at: clock.iso() } });
  await store.notify(channels.vulnerabilityCounts, "");
}

const nextVersions = ({ store }: Services, last: number, where = gt("id", last)): Promise<MatchedRow[]> =>
  store.software.pick(softwareColumns, { where, order: inOrder, limit: BATCH_SIZE });

const installedPerRelease: ReadonlySet<string> = new Set(["deb_packages", "apk_packages"]);

/** Matches versions that hosts have reported since. */
export async function matchNew(services: Services, comparer: Comparer, pace: Pace): Promise<void> {
  for (let last = 0; !pace.signal.aborted; ) {
    const rows = await nextVersions(services, last, and(eq("is_matched", false), gt("id", last)));
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    const debs = rows.filter(({ source }) => installedPerRelease.has(source)).map(({ id }) => id);
    const releases = await releasesOf(services.store, debs);
    // Versions are stored before the list of their host; without a host, their release is not known.
    const ready = rows.filter(({ id, source }) => !installedPerRelease.has(source) || releases.isInstalled(id));
    await storeResults(services, await compareRows(services, ready, { comparer, releases }), { ...pace, comparer });
  }
}

/** Fills in what is known about CVEs, if other data was imported since. */
async function describe(
  services: Services,
  { data: all, comparer }: { readonly data: string; readonly comparer: Comparer },
  signal: AbortSignal,
): Promise<void> {
  const { store } = services;
  const data = digest(all);
  const progress = await progressOf(services);
  if (progress === null || progress.described === data) return;
  let changed = 0;
  for await (const rows of store.vulnerabilities.pages({}, CVES_PER_TRANSACTION, ["id", "cve"])) {
    if (signal.aborted) return;
    const details = await comparer.describe(rows.map(({ cve }) => cve));
    changed += await store.tx((tx) => setMetadata(tx, details));
  }
  if (changed > 0) await correctSeverities(store, signal);
  if (!signal.aborted)
    await store.vulnerabilityMatching.update({ where: eq("id", progress.id), set: { described: data } });
}
