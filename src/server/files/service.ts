// Files that clients upload. A feature keeps one by a reference to its row, in the request that has uploaded it.
import type { Download, StoredFile } from "../../api/bodies.ts";
import { hours, isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { unavailable } from "../core/errors.ts";
import { part } from "../core/running.ts";
import type { ServerTx } from "../core/tables.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import { and, eq, exists, lte, not, oneOf, type Predicate } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { RowOf, Table } from "../store/table.ts";
import type { files } from "./tables.ts";

/** A column of another table that refers to files. */
export interface FileReference {
  readonly table: Table;
  readonly column: string;
}

declare module "../core/extensions.ts" {
  interface Extensions {
    readonly fileReferences: readonly FileReference[];
  }
}

/** The columns of the tables that refer to files. */
export const referencesToFiles = (tables: readonly Table[]): FileReference[] =>
  tables.flatMap((table) =>
    Object.entries(table.columns)
      .filter(([, { spec }]) => spec.to === "files")
      .map(([column]) => ({ table, column })),
  );

type FileRow = RowOf<typeof files>;
type Parts = Pick<Services, "store" | "blobs" | "clock" | "random" | "extensions">;

export const FILE_KEYS = "files/";
/** A file that no row refers to is deleted after this time. Longer than any upload takes. */
const KEPT_FOR = hours(24);
/** Uploads of one server at the same time: with a bucket, each needs 16 MiB of memory. */
const MAX_UPLOADS = 16;

export const openUploads = part("uploads", () => ({ open: 0 }));

/** The files that one request has stored. */
export class Uploads {
  readonly #services: Parts & Pick<Services, "running">;
  readonly #added: FileRow[] = [];

  constructor(services: Parts & Pick<Services, "running">) {
    this.#services = services;
  }

  /** Stores the content, or only counts it as used if it is known. Throws what the content throws. */
  readonly store = async (
    content: AsyncIterable<Uint8Array>,
    limit: number,
  ): Promise<Pick<StoredFile, "id" | "size" | "sha256">> => {
    const open = this.#services.running.of(openUploads);
    if (open.open >= MAX_UPLOADS) throw unavailable(`${MAX_UPLOADS} files are being uploaded already; try again`);
    open.open++;
    try {
      const { row, isNew } = await keepFile(this.#services, content, limit);
      if (isNew) this.#added.push(row);
      return { id: row.id, size: row.size, sha256: row.sha256 };
    } finally {
      open.open--;
    }
  };

  /** Removes what this request has added, unless others have uploaded the same file or a row refers to it. */
  async discard(): Promise<void> {
    for (const row of this.#added.splice(0)) await removeFile(this.#services, row);
  }
}

async function keepFile(
  { store, blobs, clock, random }: Parts,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ row: FileRow; isNew: boolean }> {
  const key = `${FILE_KEYS}${random.uuid()}`;
  const { sha256, size } = await blobs.put(key, content, { maxBytes });
  try {
    for (;;) {
      const now = clock.iso();
      // Setting the time also changes the revision: whoever wants to remove the file sees that it is needed.
      await store.files.update({ where: eq("sha256", sha256), set: { used_at: now } });
      const known = await store.files.first({ where: eq("sha256", sha256) });
      if (known) {
        await blobs.delete(key);
        return { row: known, isNew: false };
      }
      try {
        const row = await store.files.insert({ sha256, size, key, created_at: now, used_at: now });
        return { row, isNew: true };
      } catch (error) {
        // Another request has stored the same content meanwhile.
        if (!(error instanceof UniqueViolation)) throw error;
      }
    }
  } catch (error) {
    await blobs.delete(key).catch(() => false);
    throw error;
  }
}

const unreferenced = ({ extensions }: Pick<Services, "extensions">): Predicate =>
  and(...extensions.fileReferences.map(({ table, column }) => not(exists(table, column))));

/** The row goes first: a content without a row is removed later, but a row without a content would be a broken file. */
async function removeFile(services: Parts, { id, key, revision }: FileRow): Promise<boolean> {
  const { store, blobs } = services;
  const gone = await store.files.delete(and(eq("id", id), eq("revision", revision), unreferenced(services)));
  if (gone > 0) await blobs.delete(key);
  return gone > 0;
}

const BATCH = 100;

/** Removes files that no row refers to, and contents that crashed servers have left without a row. */
export async function removeUnusedFiles(services: Parts, signal: AbortSignal): Promise<number> {
  const { store, blobs, clock } = services;
  const before = clock.now() - KEPT_FOR;
  let removed = 0;
  const unused = and(lte("used_at", isoAt(before)), unreferenced(services));
  for await (const rows of store.files.pages({ where: unused }, BATCH)) {
    if (signal.aborted) return removed;
    for (const row of rows) if (await removeFile(services, row)) removed++;
  }
  for await (const keys of batches(blobs.list(FILE_KEYS))) {
    if (signal.aborted) break;
    const known = new Set((await store.files.pick(["key"], { where: oneOf("key", keys) })).map(({ key }) => key));
    for (const key of keys) if (!known.has(key) && (await removeOld(blobs, key, before))) removed++;
  }
  return removed;
}

async function removeOld(blobs: Blobs, key: string, before: number): Promise<boolean> {
  const info = await blobs.stat(key);
  return info !== null && info.modified.getTime() < before && (await blobs.delete(key));
}

async function* batches(keys: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const key of keys) {
    batch.push(key);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The file as a reply, under the name that the feature gives it. Throws if there is none with this id. */
export async function downloadOf(
  { store, blobs }: { readonly store: ServerTx; readonly blobs: Blobs },
  id: number,
  as: { readonly name?: string; readonly type?: string } = {},
): Promise<Download> {
  const row = await store.files.get(id);
  if (row === null) throw new Error(`there is no file ${id}`);
  return { ...as, size: row.size, sha256: row.sha256, open: (range) => blobs.get(row.key, range) };
}
