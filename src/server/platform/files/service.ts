// Files that clients upload. A feature keeps one by a reference to its row, in the request that has uploaded it.

import type { Download, StoredFile } from "../../../api/bodies.ts";
import { hours, isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { overloaded } from "../core/errors.ts";
import { memo } from "../core/memo.ts";
import { part } from "../core/running.ts";
import type { ServerTx } from "../core/tables.ts";
import type { BlobDigest, Blobs, PutOptions } from "../store/blobs/blobs.ts";
import { and, eq, exists, lte, not, oneOf, type Predicate } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { RowOf, Table } from "../store/table.ts";
import type { files } from "./tables.ts";

/** A column of another table that refers to files. */
/** The columns of the tables that refer to files. */
export const unreferenced = memo(
  (tables: Readonly<Record<string, Table>>): Predicate =>
    and(
      ...Object.values(tables).flatMap((table) =>
        Object.entries(table.columns)
          .filter(([, { spec }]) => spec.to === "files")
          .map(([column]) => not(exists(table, column))),
      ),
    ),
);

type FileRow = RowOf<typeof files>;
type Parts = Pick<Services, "store" | "blobs" | "clock" | "random">;

const FILE_KEYS = "files/";
/** A file that no row refers to is deleted after this time. Longer than any upload takes. */
const KEPT_FOR = hours(24);
/** Uploads of one server at the same time: with a bucket, each needs 16 MiB of memory. */
const MAX_UPLOADS = 16;

export const openUploads = part("uploads", () => ({ open: 0 }));

/** Throws 503 if the server is receiving too many files already. */
export async function inUploadSlot<R>({ running }: Pick<Services, "running">, work: () => Promise<R>): Promise<R> {
  const uploads = running.of(openUploads);
  if (uploads.open >= MAX_UPLOADS) throw overloaded(`${MAX_UPLOADS} files are being uploaded already; try again`);
  uploads.open++;
  try {
    return await work();
  } finally {
    uploads.open--;
  }
}

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
    const { row, isNew } = await inUploadSlot(this.#services, () =>
      keepFile(this.#services, content, { maxBytes: limit }),
    );
    if (isNew) this.#added.push(row);
    return { id: row.id, size: row.size, sha256: row.sha256 };
  };

  /** Removes what this request has added, unless others have uploaded the same file or a row refers to it. */
  async discard(): Promise<void> {
    for (const row of this.#added.splice(0)) await removeFile(this.#services, row);
  }
}

type Keeping = Omit<Parts, "store" | "extensions"> & { readonly store: ServerTx };

/** Stores the content, unless it is known. Throws `BlobDiffers` if it has another digest than the given one. */
export async function keepFile(
  { store, blobs, clock, random }: Keeping,
  content: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<{ row: FileRow; isNew: boolean }> {
  const key = `${FILE_KEYS}${random.uuid()}`;
  return keepStored({ store, blobs, clock }, { key, ...(await blobs.put(key, content, options)) });
}

/**
 * Keeps a blob that has grown to its full size, and that nobody adds to any more. The caller deletes its old key. Null:
 * that is not possible without a copy here.
 */
export async function keepGrown(
  { store, blobs, clock, random }: Keeping,
  from: string,
  { size, sha256 }: BlobDigest,
): Promise<{ row: FileRow; isNew: boolean } | null> {
  const key = `${FILE_KEYS}${random.uuid()}`;
  if (!(await blobs.growing?.keepAs(from, key, size))) return null;
  return keepStored({ store, blobs, clock }, { key, size, sha256 });
}

async function keepStored(
  { store, blobs, clock }: Omit<Keeping, "random">,
  { key, size, sha256 }: BlobDigest & { readonly key: string },
): Promise<{ row: FileRow; isNew: boolean }> {
  // If the store fails, the row may have been written nevertheless. A job removes the blob if it was not.
  for (;;) {
    const now = clock.iso();
    const [existing] = await markUsed({ store, clock }, eq("sha256", sha256));
    if (existing) {
      await blobs.delete(key);
      return { row: existing, isNew: false };
    }
    try {
      const row = await store.files.insert({ sha256, size, key, created_at: now, used_at: now });
      return { row, isNew: true };
    } catch (error) {
      // Another request has stored the same content meanwhile.
      if (!(error instanceof UniqueViolation)) throw error;
    }
  }
}

type Marking = { readonly store: ServerTx; readonly clock: Services["clock"] };

/** Setting the time also changes the revision: whoever wants to remove the file sees that it is needed. */
async function markUsed({ store, clock }: Marking, where: Predicate): Promise<FileRow[]> {
  await store.files.update({ where, set: { used_at: clock.iso() } });
  return store.files.list({ where });
}

/** The file is not removed for a day, whatever refers to it. Throws if there is none with this id. */
export async function useFile(services: Marking, id: number): Promise<FileRow> {
  const [row] = await markUsed(services, eq("id", id));
  if (row === undefined) throw new Error(`there is no file ${id}`);
  return row;
}

/** The ids of the files with these digests, by digest. They are not removed for a day. */
export async function filesOf(services: Marking, digests: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (digests.length === 0) return new Map();
  const rows = await markUsed(services, oneOf("sha256", digests));
  return new Map(rows.map(({ sha256, id }) => [sha256, id]));
}

/** The row goes first: a content without a row is removed later, but a row without a content would be a broken file. */
async function removeFile(services: Parts, { id, key, revision }: FileRow): Promise<boolean> {
  const { store, blobs } = services;
  const gone = await store.files.delete(
    and(eq("id", id), eq("revision", revision), unreferenced(services.store.tables)),
  );
  if (gone > 0) await blobs.delete(key);
  return gone > 0;
}

const BATCH_SIZE = 100;

/** Removes files that no row refers to, and contents that crashed servers have left without a row. */
export async function removeUnusedFiles(services: Parts, signal: AbortSignal): Promise<number> {
  const { store, blobs, clock } = services;
  const before = clock.now() - KEPT_FOR;
  let removed = 0;
  const unused = and(lte("used_at", isoAt(before)), unreferenced(services.store.tables));
  for await (const rows of store.files.pages({ where: unused }, BATCH_SIZE)) {
    if (signal.aborted) return removed;
    for (const row of rows) if (await removeFile(services, row)) removed++;
  }
  const rowsOf = (keys: readonly string[]) => store.files.pick(["key"], { where: oneOf("key", keys) });
  return removed + (await removeUnknownBlobs(blobs, FILE_KEYS, { before, rowsOf, signal }));
}

interface Unknown {
  /** Younger blobs may get their row later. */
  readonly before: number;
  readonly rowsOf: (keys: readonly string[]) => Promise<readonly { readonly key: string }[]>;
  readonly signal: AbortSignal;
}

/** Removes blobs that crashed servers have left without a row. Returns their number. */
export async function removeUnknownBlobs(
  blobs: Blobs,
  prefix: string,
  { before, rowsOf, signal }: Unknown,
): Promise<number> {
  let removed = 0;
  for await (const keys of batches(blobs.list(prefix))) {
    if (signal.aborted) break;
    const usedKeys = new Set((await rowsOf(keys)).map(({ key }) => key));
    for (const key of keys) if (!usedKeys.has(key) && (await removeOld(blobs, key, before))) removed++;
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
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The first bytes of a file; fewer if it is shorter. */
export async function startOf(stored: StoredFiles, id: number, bytes: number): Promise<Buffer> {
  const { size, read } = await partsOf(stored, id);
  return size === 0 ? Buffer.alloc(0) : read(0, Math.min(bytes, size));
}

interface StoredFiles {
  readonly store: ServerTx;
  readonly blobs: Blobs;
}

/** To read parts of a file: the bytes from `start` to before `end`, which must not be empty. */
export async function partsOf({ store, blobs }: StoredFiles, id: number) {
  const row = await store.files.get(id);
  if (row === null) throw new Error(`there is no file ${id}`);
  const { key, size } = row;
  const read = async (start: number, end: number): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of await blobs.get(key, { start, end: end - 1 })) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };
  return { size, read };
}

/** The file as a reply, under the name that the feature gives it. Throws if there is none with this id. */
export async function downloadOf(
  { store, blobs }: StoredFiles,
  id: number,
  as: { readonly name?: string; readonly type?: string } = {},
): Promise<Download> {
  const row = await store.files.get(id);
  if (row === null) throw new Error(`there is no file ${id}`);
  return { ...as, size: row.size, sha256: row.sha256, open: (range) => blobs.get(row.key, range) };
}
