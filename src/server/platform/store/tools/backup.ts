import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { adminOf } from "../admin.ts";
import { type Blobs, NoSuchBlob } from "../blobs/blobs.ts";
import type { Cipher } from "../cipher.ts";
import type { Collection, Store, Tables } from "../store.ts";
import { encode, FORMAT, type Line, PIECE_BYTES, VERSION } from "./backup-format.ts";
import { collectionsOf, RowDigest } from "./checksum.ts";
import type { ProgressOptions } from "./copy.ts";

interface BackupOptions<S extends Tables> extends ProgressOptions {
  readonly store: Store<S>;
  readonly blobs: Blobs;
  readonly cipher: Cipher;
  readonly file: string;
  readonly now: Date;
}

interface BackupResult {
  rows: number;
  blobs: number;
}

/**
 * Writes everything that the server stores into one file: a consistent snapshot of the rows with secrets encrypted,
 * then the blobs. The file gets its final name only when it is complete.
 */
export async function backup<S extends Tables>(options: BackupOptions<S>): Promise<BackupResult> {
  const unfinished = `${options.file}.unfinished`;
  const result: BackupResult = { rows: 0, blobs: 0 };
  const file = await open(unfinished, "w", 0o600);
  try {
    await adminOf(options.store).snapshot(async (view) => {
      const next = await adminOf(options.store).nextIds();
      const lines = content(options, collectionsOf(view, options.store.tables), next, result);
      await pipeline(Readable.from(encode(lines)), createGzip({ level: 4 }), async (packed: AsyncIterable<Buffer>) => {
        for await (const bytes of packed) await file.writeFile(bytes);
      });
    });
    await file.sync();
    await file.close();
    await rename(unfinished, options.file);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dirname(options.file));
  return result;
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

async function* content<S extends Tables>(
  options: BackupOptions<S>,
  collections: Collection[],
  next: Readonly<Record<string, number>>,
  result: BackupResult,
): AsyncGenerator<Line> {
  const { blobs, cipher, now, onProgress } = options;
  yield ["head", FORMAT, VERSION, { created_at: now.toISOString(), key_id: cipher.keyId }];
  for (const collection of collections) {
    const { table } = collection;
    const columns = [...Object.keys(table.columns), "revision"];
    const sealed = new Set(columns.filter((column) => table.columns[column]?.spec.secret));
    const digest = new RowDigest(table, "present");
    const total = onProgress ? await collection.count() : 0;
    yield ["table", table.name, columns];
    for await (const page of collection.pages()) {
      for (const row of page as Readonly<Record<string, unknown>>[]) {
        digest.add(row);
        yield [
          "row",
          columns.map((column) =>
            sealed.has(column) && row[column] !== null ? cipher.seal(JSON.stringify(row[column])) : row[column],
          ),
        ];
      }
      onProgress?.({ table: table.name, rows: digest.rows, total, phase: "copy" });
    }
    yield ["table-end", { rows: digest.rows, sha256: digest.hex(), next_id: next[table.name] ?? null }];
    result.rows += digest.rows;
  }
  for await (const key of blobs.list()) {
    // A server may delete blobs during the backup: no remaining row refers to a deleted one.
    const stream = await blobs.get(key).catch((error: unknown) => {
      if (error instanceof NoSuchBlob) return null;
      throw error;
    });
    if (stream === null) continue;
    yield* blob(stream, key);
    result.blobs++;
  }
}

async function* blob(stream: Readable, key: string): AsyncGenerator<Line> {
  const hash = createHash("sha256");
  let size = 0;
  yield ["blob", key];
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    hash.update(bytes);
    size += bytes.length;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      yield ["piece", bytes.subarray(at, at + PIECE_BYTES).toString("base64")];
  }
  yield ["blob-end", { size, sha256: hash.digest("hex") }];
}
