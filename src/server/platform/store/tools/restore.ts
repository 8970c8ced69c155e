import { adminOf, type Restorer } from "../admin.ts";
import { type BlobDigest, type Blobs, digestOf } from "../blobs/blobs.ts";
import { type Cipher, WrongKey } from "../cipher.ts";
import { type Store, StoreDamaged, type Tables } from "../store.ts";
import type { Table } from "../table.ts";
import { type Head, type Line, readLines, VERSION } from "./backup-format.ts";
import { collectionsOf, type PlainRow, tableState } from "./checksum.ts";
import { CopyDiffers, type ProgressOptions, requireEmpty } from "./copy.ts";

interface RestoreOptions<S extends Tables> extends ProgressOptions {
  readonly file: string;
  readonly store: Store<S>;
  readonly blobs: Blobs;
  readonly cipher: Cipher;
  /** The result of `verifyBackup`, if the caller has already called it. */
  readonly verified?: VerifiedBackup;
}

interface VerifiedBackup {
  readonly head: Head;
  /** The tables for which the backup has every column. */
  readonly complete: ReadonlySet<string>;
  readonly rows: number;
}

const BATCH_SIZE = 500;
const ANY_SIZE = { maxBytes: Number.MAX_SAFE_INTEGER };

type Lines = AsyncIterator<Line>;

/** Fills an empty store from a backup. The whole file is read and checked before anything is written. */
export async function restore<S extends Tables>(
  options: RestoreOptions<S>,
): Promise<{ rows: number; blobs: number; created_at: string }> {
  const { file, store, blobs, cipher } = options;
  await requireEmpty(store);
  const { head, complete } = options.verified ?? (await verifyBackup(file, store.tables, cipher));

  const states = new Map<string, string>();
  const put: string[] = [];
  let count = 0;
  try {
    await adminOf(store).restore(async (into) => {
      const lines = readLines(file);
      for (let next = await lines.next(); !next.done; next = await lines.next()) {
        const line = next.value;
        if (line[0] === "table") states.set(line[1], await restoreTable(options, into, lines, line));
        if (line[0] === "blob") {
          count++;
          if ((await blobs.stat(line[1])) !== null) await compareBlob(options, lines, line[1]);
          else {
            put.push(line[1]);
            await restoreBlob(options, lines, line[1]);
          }
        }
      }
    });
  } catch (error) {
    for (const key of put) await blobs.delete(key).catch(() => undefined);
    throw error;
  }

  let rows = 0;
  for (const collection of collectionsOf(store, store.tables)) {
    const { name } = collection.table;
    const kept = await tableState(collection, "present");
    // A table that got new columns since the backup has rows that differ from those in it, so only complete tables
    // are compared.
    if (complete.has(name) && states.get(name) !== kept.sha256)
      throw new CopyDiffers(
        `${name}: the rows restored differ from those of the backup; empty the store and restore again`,
      );
    rows += kept.rows;
  }
  return { rows, blobs: count, created_at: head.created_at };
}

const tableNamed = (tables: Tables, tableName: string): Table | undefined =>
  Object.values(tables).find(({ name }) => name === tableName) as Table | undefined;

/** Reads only the head. The rest of the file is not checked. */
export async function readHead(file: string): Promise<Head> {
  for await (const line of readLines(file)) if (line[0] === "head") return line[3];
  throw new StoreDamaged(file, 0, "it is not an svc backup");
}

/**
 * Reads the whole file and checks its digest, its version, the key that encrypted it (if a cipher is given), and that
 * this program has its tables and columns.
 */
export async function verifyBackup(file: string, tables: Tables, cipher: Cipher | null): Promise<VerifiedBackup> {
  let rows = 0;
  let head: Head | undefined;
  const complete = new Set<string>();
  for await (const line of readLines(file)) {
    if (line[0] === "head") {
      if (line[2] > VERSION)
        throw new Error(`the backup has format ${line[2]}, this svc reads up to ${VERSION}: use a newer svc`);
      head = line[3];
      if (cipher !== null && head.key_id !== cipher.keyId)
        throw new WrongKey(
          `the secrets in the backup were encrypted with server key ${head.key_id}, and the key here is ${cipher.keyId}: use server.key of the server that was backed up`,
        );
    }
    if (line[0] === "row") rows++;
    if (line[0] !== "table") continue;
    const [, name, columns] = line;
    const table = tableNamed(tables, name);
    const unknown = table
      ? columns.find((column) => column !== "revision" && !Object.hasOwn(table.columns, column))
      : "";
    if (!table || unknown !== undefined)
      throw new Error(
        `the backup has ${table ? `a column ${name}.${unknown}` : `a table ${name}`} that this version does not have: use the svc version that created it, or a newer one`,
      );
    const missing = Object.keys(table.columns).filter((column) => !columns.includes(column));
    const empty = missing.find((column) => !table.columns[column]!.spec.hasFallback);
    if (empty !== undefined) throw new Error(`the backup lacks ${name}.${empty}, which has no default`);
    if (missing.length === 0) complete.add(name);
  }
  return { head: head!, complete, rows };
}

async function restoreTable<S extends Tables>(
  { file, store, cipher, onProgress }: RestoreOptions<S>,
  into: Restorer,
  lines: Lines,
  [, name, columns]: Extract<Line, readonly ["table", ...unknown[]]>,
): Promise<string> {
  const table = tableNamed(store.tables, name)!;
  const defaults = Object.fromEntries(
    Object.entries(table.columns).map(([column, { spec }]) => [column, spec.fallback]),
  );
  const sealed = columns.map((column) => table.columns[column]?.spec.secret === true);
  let batch: PlainRow[] = [];
  let rows = 0;
  const flush = async () => {
    rows += batch.length;
    await into.rows(name, batch);
    batch = [];
    onProgress?.({ table: name, rows, total: rows, phase: "copy" });
  };
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    if (line[0] === "table-end") {
      if (batch.length > 0) await flush();
      const { next_id: id, rows: rowCount, sha256 } = line[1];
      if (rows !== rowCount) throw new StoreDamaged(file, 0, `${name} should have ${rowCount} rows and has ${rows}`);
      if (id !== null) await into.nextId(name, id);
      return sha256;
    }
    if (line[0] !== "row") break;
    const row: Record<string, unknown> = { ...defaults };
    columns.forEach((column, i) => {
      const value = line[1][i];
      row[column] = sealed[i] && typeof value === "string" ? JSON.parse(cipher.open(value)) : value;
    });
    batch.push(row);
    if (batch.length >= BATCH_SIZE) await flush();
  }
  throw new StoreDamaged(file, 0, `the rows of ${name} are incomplete`);
}

async function restoreBlob<S extends Tables>(
  { file, blobs }: RestoreOptions<S>,
  lines: Lines,
  key: string,
): Promise<void> {
  let expected: BlobDigest | undefined;
  const pieces = piecesOf(file, lines, key, (digest) => {
    expected = digest;
  });
  const { size, sha256 } = await blobs.put(key, pieces, ANY_SIZE);
  if (size !== expected?.size || sha256 !== expected.sha256) throw incomplete(file, key);
}

/** A blob that is there already may belong to a server that runs: it is neither replaced nor deleted. */
async function compareBlob<S extends Tables>(
  { file, blobs }: RestoreOptions<S>,
  lines: Lines,
  key: string,
): Promise<void> {
  let expected: BlobDigest | undefined;
  const pieces = piecesOf(file, lines, key, (digest) => {
    expected = digest;
  });
  // The whole file has been verified, so only its end is of interest.
  for await (const _ of pieces);
  const actual = await digestOf(blobs, key);
  if (actual.size !== expected?.size || actual.sha256 !== expected.sha256)
    throw new CopyDiffers(
      `${blobs.place} has another file ${key}: it belongs to another server. Restore to another data directory, or another prefix of the bucket`,
    );
}

const incomplete = (file: string, key: string) => new StoreDamaged(file, 0, `the blob ${key} is incomplete`);

async function* piecesOf(
  file: string,
  lines: Lines,
  key: string,
  onEnd: (digest: BlobDigest) => void,
): AsyncGenerator<Uint8Array> {
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    if (line[0] === "piece") yield Buffer.from(line[1], "base64");
    else if (line[0] === "blob-end") return onEnd(line[1]);
    else break;
  }
  throw incomplete(file, key);
}
