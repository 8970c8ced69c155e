// The reference files of all feeds together. A file is opened when it is first needed. What a lookup found is kept for
// the next versions of the same product, up to a number of records.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
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
import { openTableFile, type TableFile } from "./table-file.ts";

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
  const library = libraryOf(await sourcesIn(home), places.of);
  return {
    ...library,
    async close() {
      await library.close();
      await places.close();
    },
  };
}

/** `placeOf` gives the path of a source's file, when it is needed. */
export function libraryOf(sources: readonly Source[], placeOf: (source: Source) => string | Promise<string>): Library {
  const files = openFiles(sources, placeOf);
  const kept = new Map<string, readonly unknown[]>();
  let room = KEPT_MAX;

  async function read(kind: FeedKind, key: string): Promise<readonly unknown[]> {
    const unchanged: unknown[] = [];
    let changed: ReadonlySet<string> | null = null;
    for (const { name } of sources) {
      if (feedKind(name) !== kind) continue;
      const records = await (await files.open(name)).get(key);
      if (kind !== "nvd" || name === MODIFIED_FEED || !files.has(MODIFIED_FEED) || records.length === 0) {
        unchanged.push(...records);
        continue;
      }
      changed ??= await changedIn(key, records as ProductRecord[]);
      for (const record of records as ProductRecord[])
        if (!(await isChanged(record.cve, changed))) unchanged.push(record);
    }
    return unchanged;
  }

  /** The changes of the product itself, which most changed CVEs are. */
  async function changedIn(key: string, records: readonly ProductRecord[]): Promise<ReadonlySet<string>> {
    if (!key.startsWith("p:") || records.length === 0) return new Set();
    const changes = (await (await files.open(MODIFIED_FEED)).get(key)) as ProductRecord[];
    return new Set(changes.map(({ cve }) => cve));
  }

  async function isChanged(cve: string | undefined, changed: ReadonlySet<string>): Promise<boolean> {
    if (cve === undefined) return false;
    return changed.has(cve) || (await (await files.open(MODIFIED_FEED)).get(cveKey(cve))).length > 0;
  }

  async function lookUp<T>(kind: FeedKind, key: string): Promise<readonly T[]> {
    const cached = kept.get(key);
    if (cached !== undefined) return cached as readonly T[];
    const records = await read(kind, key);
    room -= 1 + records.length;
    if (room < 0) {
      kept.clear();
      room = KEPT_MAX;
    }
    kept.set(key, records);
    return records as readonly T[];
  }

  return {
    data: dataOf(sources),
    products: (part, vendor, product) => lookUp<ProductRecord>("nvd", productKey(part, vendor, product)),
    packages: (ecosystem, name) => lookUp<PackageRecord>("osv", packageKey(ecosystem, name)),
    builds: (build, isServer) => lookUp<BuildRecord>("msrc", buildKey(build, isServer)),
    async cve(cve) {
      const key = cveKey(cve);
      let merged: CveRecord | null = null;
      const names = new Set(["kev", "epss", MODIFIED_FEED, `nvd-${Math.max(FIRST_YEAR, Number(cve.slice(4, 8)))}`]);
      // The changes come first, and know better.
      for (const { name } of sources)
        if (names.has(name))
          for (const record of (await (await files.open(name)).get(key)) as CveRecord[])
            merged = { ...record, ...(merged ?? {}) };
      return merged;
    },
    close: () => files.close(),
  };
}

interface Files {
  has(name: string): boolean;
  open(name: string): Promise<TableFile>;
  close(): Promise<void>;
}

function openFiles(sources: readonly Source[], placeOf: (source: Source) => string | Promise<string>): Files {
  const byName = new Map(sources.map((source) => [source.name, source]));
  const opened = new Map<string, Promise<TableFile>>();
  const handles: number[] = [];

  async function start(name: string): Promise<TableFile> {
    const handle = openSync(await placeOf(byName.get(name)!), "r");
    handles.push(handle);
    return openTableFile(fstatSync(handle).size, (at, length) => {
      const bytes = Buffer.allocUnsafe(length);
      const read = readSync(handle, bytes, 0, length, at);
      return read === length ? bytes : bytes.subarray(0, read);
    });
  }

  return {
    has: (name) => byName.has(name),
    open(name) {
      let file = opened.get(name);
      if (file === undefined) {
        file = start(name);
        opened.set(name, file);
        file.catch(() => opened.delete(name));
      }
      return file;
    },
    async close() {
      await Promise.allSettled(opened.values());
      for (const handle of handles.splice(0)) closeSync(handle);
      opened.clear();
    },
  };
}
