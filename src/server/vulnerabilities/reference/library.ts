// The reference files of all feeds together. A file is opened when it is first needed. What a lookup found is kept for
// the next versions of the same product, up to a number of records.
import { closeSync, createWriteStream, fstatSync, openSync, readSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { PartServices } from "../../core/running.ts";
import { type FeedKind, FIRST_YEAR, kindOf } from "../feeds/list.ts";
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
import { openTableFile, type TableFile } from "./table-file.ts";

/** Records, and keys without records, that are kept. */
const KEPT_MAX = 100_000;
/** NVD's changes of the last days replace what the files of years say. */
const CHANGES = "nvd-modified";

export interface Library {
  /** Which data this is: another one gives other results. */
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

interface Source {
  readonly name: string;
  readonly blob: string;
}

type Home = Pick<PartServices, "blobs"> & { readonly store: Pick<PartServices["store"], "vulnerabilityFeeds"> };

const sourcesIn = async ({ store }: Home): Promise<Source[]> =>
  (await store.vulnerabilityFeeds.pick(["name", "blob"]))
    .filter(({ blob }) => blob !== "")
    .sort((a, b) => (a.name === CHANGES ? -1 : b.name === CHANGES ? 1 : a.name < b.name ? -1 : 1));

const dataOf = (sources: readonly Source[]): string => sources.map(({ blob }) => blob).join(" ");

/** Which data is imported at the moment; empty: none. */
export const currentData = async (home: Home): Promise<string> => dataOf(await sourcesIn(home));

export async function openLibrary(home: Home): Promise<Library> {
  const sources = await sourcesIn(home);
  const files = openFiles(home, sources);
  const kept = new Map<string, readonly unknown[]>();
  let room = KEPT_MAX;

  async function read(kind: FeedKind, key: string): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    let changed: ReadonlySet<string> | null = null;
    for (const { name } of sources) {
      if (kindOf(name) !== kind) continue;
      const records = await (await files.open(name)).get(key);
      if (kind !== "nvd" || name === CHANGES || !files.has(CHANGES) || records.length === 0) {
        found.push(...records);
        continue;
      }
      changed ??= await changedIn(key, records as ProductRecord[]);
      for (const record of records as ProductRecord[]) if (!(await isChanged(record.cve, changed))) found.push(record);
    }
    return found;
  }

  /** The changes of the product itself, which most changed CVEs are. */
  async function changedIn(key: string, records: readonly ProductRecord[]): Promise<ReadonlySet<string>> {
    if (!key.startsWith("p:") || records.length === 0) return new Set();
    const changes = (await (await files.open(CHANGES)).get(key)) as ProductRecord[];
    return new Set(changes.map(({ cve }) => cve));
  }

  async function isChanged(cve: string | undefined, changed: ReadonlySet<string>): Promise<boolean> {
    if (cve === undefined) return false;
    return changed.has(cve) || (await (await files.open(CHANGES)).get(cveKey(cve))).length > 0;
  }

  async function lookUp<T>(kind: FeedKind, key: string): Promise<readonly T[]> {
    const known = kept.get(key);
    if (known !== undefined) return known as readonly T[];
    const found = await read(kind, key);
    room -= 1 + found.length;
    if (room < 0) {
      kept.clear();
      room = KEPT_MAX;
    }
    kept.set(key, found);
    return found as readonly T[];
  }

  return {
    data: dataOf(sources),
    products: (part, vendor, product) => lookUp<ProductRecord>("nvd", productKey(part, vendor, product)),
    packages: (ecosystem, name) => lookUp<PackageRecord>("osv", packageKey(ecosystem, name)),
    builds: (build, isServer) => lookUp<BuildRecord>("msrc", buildKey(build, isServer)),
    async cve(cve) {
      const key = cveKey(cve);
      let found: CveRecord | null = null;
      const names = new Set(["kev", "epss", CHANGES, `nvd-${Math.max(FIRST_YEAR, Number(cve.slice(4, 8)))}`]);
      // The changes come first, and know better.
      for (const { name } of sources)
        if (names.has(name))
          for (const record of (await (await files.open(name)).get(key)) as CveRecord[])
            found = { ...record, ...(found ?? {}) };
      return found;
    },
    close: () => files.close(),
  };
}

interface Files {
  has(name: string): boolean;
  open(name: string): Promise<TableFile>;
  close(): Promise<void>;
}

function openFiles({ blobs }: Home, sources: readonly Source[]): Files {
  const blobOf = new Map(sources.map(({ name, blob }) => [name, blob]));
  const opened = new Map<string, Promise<TableFile>>();
  const handles: number[] = [];
  let copies: Promise<string> | null = null;

  /** Files of a bucket are copied, because many small parts of them are read. */
  async function copied(name: string, blob: string): Promise<string> {
    copies ??= mkdtemp(join(tmpdir(), "svc-reference-"));
    const path = join(await copies, name);
    await pipeline(await blobs.get(blob), createWriteStream(path));
    return path;
  }

  async function start(name: string): Promise<TableFile> {
    const blob = blobOf.get(name)!;
    const handle = openSync(blobs.localPath(blob) ?? (await copied(name, blob)), "r");
    handles.push(handle);
    return openTableFile(fstatSync(handle).size, (at, length) => {
      const bytes = Buffer.allocUnsafe(length);
      const read = readSync(handle, bytes, 0, length, at);
      return read === length ? bytes : bytes.subarray(0, read);
    });
  }

  return {
    has: (name) => blobOf.has(name),
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
      if (copies !== null) await rm(await copies, { recursive: true, force: true });
    },
  };
}
