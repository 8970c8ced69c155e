// The entries of one host, one for each version: rows of one version may report several paths.
import { PATHS } from "./additions.ts";
import type { SoftwareEntry, StoredVersion } from "./reported-rows/read.ts";

/** What several rows of one version report. */
interface Several {
  readonly paths: Set<string>;
  opened: string | null;
}

/**
 * Most versions are stored, and then a mark on the stored version shows that the host has an entry of it already. This
 * is faster than a map of all entries by identity, and leaves no garbage.
 */
export class DistinctEntries {
  readonly entries: SoftwareEntry[] = [];
  /** The stored version of each entry, if it is known. */
  readonly stored: (StoredVersion | undefined)[] = [];
  /** The places of entries without a stored version, by the identity of the version. */
  readonly #others = new Map<string, number>();
  readonly #several = new Map<number, Several>();

  /** `stored` must be the same object for all entries of a version, or always undefined. */
  add(entry: SoftwareEntry, stored: StoredVersion | undefined): void {
    const place = this.#placeOf(entry, stored);
    if (place !== undefined) {
      this.#join(place, entry);
      return;
    }
    if (stored) {
      stored.markedBy = this;
      stored.place = this.entries.length;
    } else this.#others.set(entry.version.identity, this.entries.length);
    this.entries.push(entry);
    this.stored.push(stored);
  }

  #placeOf({ version }: SoftwareEntry, stored: StoredVersion | undefined): number | undefined {
    if (stored) return stored.markedBy === this ? stored.place : undefined;
    return this.#others.get(version.identity);
  }

  #join(place: number, { installed_paths, last_opened_at }: SoftwareEntry): void {
    const first = this.entries[place]!;
    const several = this.#several.get(place) ?? {
      paths: new Set(first.installed_paths),
      opened: first.last_opened_at,
    };
    this.#several.set(place, several);
    for (const path of installed_paths) several.paths.add(path);
    if (last_opened_at !== null && (several.opened ?? "") < last_opened_at) several.opened = last_opened_at;
  }

  /** Call it once, after the last entry was added. */
  end(): void {
    for (const [place, { paths, opened }] of this.#several)
      this.entries[place] = {
        ...this.entries[place]!,
        installed_paths: [...paths].sort().slice(0, PATHS.max),
        last_opened_at: opened,
      };
    // The versions are stored for longer than the entries of a host are needed.
    for (const stored of this.stored) if (stored?.markedBy === this) stored.markedBy = null;
  }
}
