// The reference files of all feeds together. A file is opened when it is first needed. What a lookup found is kept for
// the next versions of the same product, up to a number of records.
import { type FeedKind, FIRST_YEAR, feedKind, MODIFIED_FEED } from "../feeds/list.ts";
import {
  type BuildRecord,
  buildKey,
  type CveRecord,
  cveKey,
  type PackageRecord,
  type ProductRecord,
  packageKey,
  productKey,
} from "./records.ts";
import { dataOf, type LibraryDeps, localPlaces, type Source, sourcesIn } from "./sources.ts";
import { TableFiles } from "./table-files.ts";

/** Records, and keys without records, that are kept. */
const KEPT_MAX = 100_000;

export interface Library {
  /** Names the data: another one gives other results. */
  readonly data: string;
  /** The CVEs of a product of NVD. */
  products(part: "a" | "o", vendor: string, product: string): Promise<readonly ProductRecord[]>;
  /** The advisories of a package. */
  packages(ecosystem: string, name: string): Promise<readonly PackageRecord[]>;
  /** The CVEs of a Windows build. */
  builds(build: string, isServer: boolean): Promise<readonly BuildRecord[]>;
  /** What is known about a CVE; null: nothing. */
  cve(cve: string): Promise<CveRecord | null>;
  close(): Promise<void>;
}

export async function openLibrary(home: LibraryDeps): Promise<Library> {
  const places = localPlaces(home);
  return new FeedLibrary(await sourcesIn(home), places);
}

interface Places {
  /** The path of a source's file, when it is needed. */
  of(source: Source): string | Promise<string>;
  close?(): Promise<void>;
}

export class FeedLibrary implements Library {
  readonly data: string;
  readonly #sources: readonly Source[];
  readonly #places: Places;
  readonly #files: TableFiles;
  readonly #cachedRecords = new Map<string, readonly unknown[]>();
  #room = KEPT_MAX;

  constructor(sources: readonly Source[], places: Places) {
    this.data = dataOf(sources);
    this.#sources = sources;
    this.#places = places;
    this.#files = new TableFiles(sources, (source) => places.of(source));
  }

  products(part: "a" | "o", vendor: string, product: string): Promise<readonly ProductRecord[]> {
    return this.#lookUp<ProductRecord>("nvd", productKey(part, vendor, product));
  }

  packages(ecosystem: string, name: string): Promise<readonly PackageRecord[]> {
    return this.#lookUp<PackageRecord>("osv", packageKey(ecosystem, name));
  }

  builds(build: string, isServer: boolean): Promise<readonly BuildRecord[]> {
    return this.#lookUp<BuildRecord>("msrc", buildKey(build, isServer));
  }

  async cve(cve: string): Promise<CveRecord | null> {
    const key = cveKey(cve);
    let merged: CveRecord | null = null;
    const names = new Set(["kev", "epss", MODIFIED_FEED, `nvd-${Math.max(FIRST_YEAR, Number(cve.slice(4, 8)))}`]);
    // The changes come first, and know better.
    for (const { name } of this.#sources)
      if (names.has(name))
        for (const record of (await this.#recordsIn(name, key)) as CveRecord[])
          merged = { ...record, ...(merged ?? {}) };
    return merged;
  }

  async close(): Promise<void> {
    await this.#files.close();
    await this.#places.close?.();
  }

  async #lookUp<T>(kind: FeedKind, key: string): Promise<readonly T[]> {
    const cached = this.#cachedRecords.get(key);
    if (cached !== undefined) return cached as readonly T[];
    const records = await this.#read(kind, key);
    this.#room -= 1 + records.length;
    if (this.#room < 0) {
      this.#cachedRecords.clear();
      this.#room = KEPT_MAX;
    }
    this.#cachedRecords.set(key, records);
    return records as readonly T[];
  }

  /** The records of all feeds of the kind, without those that the feed of changes has again. */
  async #read(kind: FeedKind, key: string): Promise<readonly unknown[]> {
    const unchanged: unknown[] = [];
    let changed: ReadonlySet<string> | null = null;
    for (const { name } of this.#sources) {
      if (feedKind(name) !== kind) continue;
      const records = await this.#recordsIn(name, key);
      if (kind !== "nvd" || name === MODIFIED_FEED || !this.#files.has(MODIFIED_FEED) || records.length === 0) {
        unchanged.push(...records);
        continue;
      }
      changed ??= await this.#changedIn(key, records as ProductRecord[]);
      for (const record of records as ProductRecord[])
        if (!(await this.#isChanged(record.cve, changed))) unchanged.push(record);
    }
    return unchanged;
  }

  /** The changes of the product itself, which most changed CVEs are. */
  async #changedIn(key: string, records: readonly ProductRecord[]): Promise<ReadonlySet<string>> {
    if (!key.startsWith("p:") || records.length === 0) return new Set();
    const changes = (await this.#recordsIn(MODIFIED_FEED, key)) as ProductRecord[];
    return new Set(changes.map(({ cve }) => cve));
  }

  async #isChanged(cve: string | undefined, changed: ReadonlySet<string>): Promise<boolean> {
    if (cve === undefined) return false;
    return changed.has(cve) || (await this.#recordsIn(MODIFIED_FEED, cveKey(cve))).length > 0;
  }

  async #recordsIn(feed: string, key: string): Promise<unknown[]> {
    return (await this.#files.open(feed)).get(key);
  }
}
