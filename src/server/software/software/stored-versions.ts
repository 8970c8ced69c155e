// Caches the stored software versions by their identity, and adds missing ones.

import type { Services } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { usualPathOf } from "./installed-paths.ts";
import { softwareKey, titleKey } from "./inventory.ts";
import type { ReportedVersion, SoftwareEntry, SoftwareVersion, StoredVersion } from "./reported-rows/read.ts";
import type { software } from "./tables.ts";
import { keyOfVersion } from "./version-keys-job.ts";

const MAX_CACHED_VERSIONS = 150_000;

export class StoredVersions {
  readonly #store: Services["store"];
  readonly #byIdentity = new Map<string, StoredVersion>();
  readonly #byId = new Map<number, StoredVersion>();
  /** How often the cache was cleared. */
  #forgets = 0;

  constructor(store: Services["store"]) {
    this.#store = store;
  }

  /** The cached version; undefined if it is not cached. */
  readonly storedOf = (version: ReportedVersion): StoredVersion | undefined => {
    if (version.stored?.isKnown) return version.stored;
    const cached = this.#byIdentity.get(version.identity);
    version.stored = cached ?? null;
    return cached;
  };

  forget(): void {
    this.#forgets++;
    for (const version of this.#byIdentity.values()) version.isKnown = false;
    this.#byIdentity.clear();
    this.#byId.clear();
  }

  /**
   * Titles and versions are written before the hosts' rows and in a transaction of their own: a version without hosts
   * does no harm.
   */
  async add(entries: ReadonlyMap<string, SoftwareEntry>): Promise<ReadonlyMap<string, StoredVersion>> {
    const versions = new Map<string, StoredVersion>();
    const missing = [...entries];
    if (missing.length === 0) return versions;

    const forgets = this.#forgets;
    const titles = new Map<string, SoftwareVersion>();
    const titleKeys = missing.map(([, { version }]) => titleKey(version.software));
    missing.forEach(([, { version }], i) => void titles.set(titleKeys[i]!, version.software));
    const titleRows = await this.#store.softwareTitles.upsert(
      [...titles].map(([key, { name, source, extension_for, bundle_identifier }]) => ({
        key,
        name,
        source,
        extension_for,
        bundle_identifier,
        named_by: "hosts" as const,
      })),
      { on: ["key"], set: [], returning: ["id", "key"] },
    );
    const titleIds = new Map(titleRows.map(({ key, id }) => [key, id]));
    const rows = await this.#store.software.upsert(
      missing.map(([, { version, installed_paths }], i) => ({
        ...version.software,
        version_key: keyOfVersion(version.software),
        key: softwareKey(version.software),
        title_id: titleIds.get(titleKeys[i]!)!,
        usual_path: usualPathOf(installed_paths[0]),
      })),
      { on: ["key"], set: [], returning: ["id", "title_id", "usual_path"] },
    );
    missing.forEach(([identity, { version }], i) => {
      const { name, source } = version.software;
      const stored = storedVersion({ ...rows[i]!, name, source });
      versions.set(identity, stored);
      // Not cached if the cache was cleared in the meantime, because the version may have been deleted.
      if (forgets === this.#forgets) this.#cache(identity, stored);
    });
    return versions;
  }

  async byId(ids: readonly number[]): Promise<ReadonlyMap<number, StoredVersion>> {
    const versions = new Map<number, StoredVersion>();
    const missing: number[] = [];
    for (const id of ids) {
      const cached = this.#byId.get(id);
      if (cached) versions.set(id, cached);
      else missing.push(id);
    }
    if (missing.length > 0)
      for (const row of await this.#store.software.pick(["id", "title_id", "name", "source", "usual_path"], {
        where: oneOf("id", missing),
      }))
        versions.set(row.id, storedVersion(row));
    return versions;
  }

  /** Never replaces a version, so that there is one object for each identity. */
  #cache(identity: string, version: StoredVersion): void {
    if (this.#byIdentity.size >= MAX_CACHED_VERSIONS) this.forget();
    if (this.#byIdentity.has(identity)) return;
    version.isKnown = true;
    this.#byIdentity.set(identity, version);
    this.#byId.set(version.id, version);
  }
}

const storedVersion = (
  row: Pick<RowOf<typeof software>, "id" | "title_id" | "name" | "source" | "usual_path">,
): StoredVersion => ({
  id: row.id,
  titleId: row.title_id,
  name: row.name,
  source: row.source,
  usualPath: row.usual_path,
  isKnown: false,
  markedBy: null,
  place: 0,
});
