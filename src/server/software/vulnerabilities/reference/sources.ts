// The reference files: which of them there are, and where they are on this machine.
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { PartServices } from "../../../platform/core/running.ts";
import { MODIFIED_FEED } from "../feeds/list.ts";

/** A feed that was imported, and the key of its reference file among the blobs. */
export interface Source {
  readonly name: string;
  readonly blob: string;
}

export type LibraryDeps = Pick<PartServices, "blobs"> & {
  readonly store: Pick<PartServices["store"], "vulnerabilityFeeds">;
};

/** The changes of the last days come first. */
export const sourcesIn = async ({ store }: Pick<LibraryDeps, "store">): Promise<Source[]> =>
  (await store.vulnerabilityFeeds.pick(["name", "blob"]))
    .filter(({ blob }) => blob !== "")
    .sort((a, b) => (a.name === MODIFIED_FEED ? -1 : b.name === MODIFIED_FEED ? 1 : a.name < b.name ? -1 : 1));

/** Names the data of the sources; empty: none. */
export const dataOf = (sources: readonly Source[]): string => sources.map(({ blob }) => blob).join(" ");

/** Names the data that is imported at the moment; empty: none. */
export const currentData = async (home: Pick<LibraryDeps, "store">): Promise<string> => dataOf(await sourcesIn(home));

interface Places {
  /** The path of the source's file. */
  of(source: Source): Promise<string>;
  close(): Promise<void>;
}

/** Files of a bucket are copied, because many small parts of them are read. */
export function localPlaces({ blobs }: Pick<LibraryDeps, "blobs">): Places {
  let copies: Promise<string> | null = null;
  return {
    async of({ name, blob }) {
      const local = blobs.localPath(blob);
      if (local !== null) return local;
      copies ??= mkdtemp(join(tmpdir(), "svc-reference-"));
      const path = join(await copies, name);
      await pipeline(await blobs.get(blob), createWriteStream(path));
      return path;
    },
    async close() {
      if (copies !== null) await rm(await copies, { recursive: true, force: true });
    },
  };
}
