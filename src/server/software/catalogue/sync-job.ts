import type { z } from "zod";
import { issueText } from "../../../api/issue-text.ts";
import { hours } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { CatalogueEntry } from "./format.ts";
import { CatalogueError, type CatalogueSource, catalogueSource } from "./source.ts";
import type { AppRow } from "./tables.ts";

/** Manifests that are read at the same time, and written together. */
const BATCH_SIZE = 8;

/** Reads the catalogue. An app whose manifest cannot be used keeps what was read before. */
export const catalogueJob: Job = {
  name: "catalogue",
  every: hours(1),
  async run(services, signal) {
    const source = catalogueSource(services);
    const entries = source === null ? [] : entriesOf(services, await source.list());
    for await (const batch of parts(entries, BATCH_SIZE)) {
      if (signal.aborted || source === null) return;
      await readApps(services, source, batch);
    }
    const slugs = entries.map(({ slug }) => slug);
    await services.store.catalogueApps.update({
      where: and(eq("is_listed", true), not(oneOf("slug", slugs))),
      set: { is_listed: false },
    });
  },
};

function entriesOf({ log, settings }: Services, apps: readonly unknown[]): CatalogueEntry[] {
  const entries = new Map<string, CatalogueEntry>();
  for (const [at, app] of apps.entries()) {
    const parsed = CatalogueEntry.safeParse(app);
    if (!parsed.success) log.warn({ at, problem: problemOf(parsed.error) }, "an app of the catalogue was left out");
    else if (!entries.has(parsed.data.slug)) entries.set(parsed.data.slug, parsed.data);
  }
  const listedApps = [...entries.values()];
  const unsigned = listedApps.filter(({ sha256 }) => sha256 === undefined).length;
  if (settings.catalogue_key !== undefined && unsigned > 0)
    log.warn(
      { apps: unsigned },
      "the signed catalogue names no sha256 of some manifests, which are therefore not checked",
    );
  return listedApps;
}

const problemOf = ({ issues }: z.ZodError): string => `${issues[0]!.path.join(".")} ${issueText(issues[0]!)}`;

type ManifestColumns = Pick<AppRow, "version" | "manifest" | "manifest_sha256">;

async function readApps(services: Services, source: CatalogueSource, entries: readonly CatalogueEntry[]) {
  const { store } = services;
  const slugs = entries.map(({ slug }) => slug);
  const appsBySlug = new Map(
    (await store.catalogueApps.list({ where: oneOf("slug", slugs) })).map((row) => [row.slug, row]),
  );
  const rows = await Promise.all(
    entries.map(async ({ sha256, ...entry }) => {
      const old = appsBySlug.get(entry.slug);
      const manifest = await manifestOf(services, source, { slug: entry.slug, sha256 }, old);
      return manifest === null ? [] : [{ ...entry, ...manifest, is_listed: true }];
    }),
  );
  await store.catalogueApps.upsert(rows.flat(), { on: ["slug"], returning: [] });
}

/** What was read before if it still holds, or if there is nothing better; null: nothing was ever read. */
async function manifestOf(
  { log }: Services,
  source: CatalogueSource,
  { slug, sha256: digest }: Pick<CatalogueEntry, "slug" | "sha256">,
  old: AppRow | undefined,
): Promise<ManifestColumns | null> {
  const before = old ? { version: old.version, manifest: old.manifest, manifest_sha256: old.manifest_sha256 } : null;
  if (before !== null && before.manifest_sha256 === digest) return before;
  try {
    const { manifest, sha256 } = await source.manifest(slug, digest);
    return { version: manifest.versions[0]!.version, manifest, manifest_sha256: sha256 };
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    log.warn({ slug, problem: error.message }, "an app of the catalogue could not be read");
    return before;
  }
}
