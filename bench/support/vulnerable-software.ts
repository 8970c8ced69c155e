// The software of a fleet of mixed machines, by source in the shares of real ones: which names its titles have, and
// what products and packages they are in the feeds of vulnerabilities.
import type { Services } from "../../src/server/platform/core/context.ts";

const BATCH_SIZE = 2000;

export interface Title {
  readonly name: string;
  readonly source: string;
  readonly bundle_identifier: string;
  readonly vendor: string;
  /** `vendor:product` of NVD; empty: a package of OSV. */
  readonly product: string;
}

/** Sources of ten titles. */
const sources = [
  "apps",
  "programs",
  "deb_packages",
  "apps",
  "programs",
  "deb_packages",
  "apps",
  "rpm_packages",
  "python_packages",
  "npm_packages",
] as const;

/** The title with this number; the first ones are the most common. */
export function titleOf(n: number): Title {
  const source = sources[n % sources.length]!;
  if (source === "apps")
    return {
      name: `Editor${n} Tool.app`,
      source,
      bundle_identifier: `com.maker${n % 700}.editor${n}`,
      vendor: "",
      product: `maker${n % 700}:editor${n}_tool`,
    };
  if (source === "programs")
    return {
      name: `Editor${n} Tool (x64)`,
      source,
      bundle_identifier: "",
      vendor: `Maker${n % 700} Software, Inc.`,
      product: `maker${n % 700}_software:editor${n}_tool`,
    };
  const vendor = source === "rpm_packages" ? "Red Hat, Inc." : "";
  return { name: `package${n}`, source, bundle_identifier: "", vendor, product: "" };
}

/** The version with this number of the title; later ones are larger. */
export function versionOf({ source }: Title, k: number): { readonly version: string; readonly release: string } {
  if (source === "deb_packages") return { version: `1.${k}.2-1ubuntu${k}`, release: "" };
  if (source === "rpm_packages") return { version: `1.${k}.2`, release: `${k}.el9` };
  return { version: `1.${k}.2`, release: "" };
}

/** Inserts all titles, with the same number of versions each. The versions of the common titles come first. */
export async function fillVersions({ store }: Services, titles: number, versionsEach: number) {
  const all = Array.from({ length: titles }, (_, n) => titleOf(n));
  const inserted = await store.softwareTitles.insertMany(
    all.map(({ name, source, bundle_identifier }, n) => ({ name, source, bundle_identifier, key: `title ${n}` })),
  );
  const rows = all.flatMap((title, n) =>
    Array.from({ length: versionsEach }, (_, k) => ({
      title_id: inserted[n]!.id,
      name: title.name,
      source: title.source,
      bundle_identifier: title.bundle_identifier,
      vendor: title.vendor,
      ...versionOf(title, k),
      key: `title ${n} ${k}`,
    })),
  );
  const versions: { id: number; title_id: number }[] = [];
  for (let at = 0; at < rows.length; at += BATCH_SIZE)
    for (const { id, title_id } of await store.software.insertMany(rows.slice(at, at + BATCH_SIZE)))
      versions.push({ id, title_id });
  return versions;
}
