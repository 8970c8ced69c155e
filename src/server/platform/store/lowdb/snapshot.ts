import { join } from "node:path";
import type { Cipher } from "../cipher.ts";
import { nextIdRecord, putRecord } from "./change.ts";
import type { StoreFile, StoreFiles } from "./files.ts";
import type { Gate } from "./gate.ts";
import { encodeLine } from "./lines.ts";
import { FORMAT, type Header, snapshotName } from "./loading.ts";
import type { Memory } from "./memory.ts";
import type { MemoryTable } from "./memory-table.ts";

const LINE_SIZE = 32 * 1024;
const SLICE_MS = 3;

export class SnapshotAborted extends Error {}

export function headerLine(kind: Header["kind"], generation: number, memory: Memory, cipher: Cipher): Buffer {
  const tables = [...memory.tables.keys()];
  return encodeLine(JSON.stringify({ format: FORMAT, kind, generation, key: cipher.keyId, tables } satisfies Header));
}

export interface SnapshotJob {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly generation: number;
  readonly memory: Memory;
  readonly cipher: Cipher;
  /** Runs a step while no transaction is open. */
  readonly gate: Pick<Gate, "step">;
  /**
   * Throws `SnapshotAborted` if memory was rolled back after the job began: the file may then contain rows that were
   * never committed.
   */
  check(): void;
  /** Resolves when all data in memory is durable. */
  settle(): Promise<void>;
}

/** Writes the rows in short slices, so that writers can work in between. Returns the size of the file. */
export async function writeSnapshot(job: SnapshotJob): Promise<number> {
  const { files, dir, generation } = job;
  const path = join(dir, snapshotName(generation));
  const draft = `${path}.tmp`;
  const file = await files.create(draft);
  try {
    const size = await writeRows(job, file);
    // The snapshot may only become valid after the changes it contains are durable in a journal.
    await job.settle();
    job.check();
    await file.sync();
    await file.close();
    await files.rename(draft, path);
    await files.syncDir(dir);
    return size;
  } catch (error) {
    await file.close().catch(() => {});
    await files.unlink(draft).catch(() => {});
    throw error;
  }
}

async function writeRows(job: SnapshotJob, file: StoreFile): Promise<number> {
  const { memory, cipher, gate, generation } = job;
  let size = 0;
  const write = async (parts: Buffer[]): Promise<void> => {
    if (parts.length === 0) return;
    const bytes = Buffer.concat(parts);
    await file.write(bytes, size);
    size += bytes.length;
  };
  await write([headerLine("snapshot", generation, memory, cipher)]);
  for (const memoryTable of memory.tables.values()) {
    const cursor: Cursor = { after: Number.NEGATIVE_INFINITY, done: false };
    while (!cursor.done) {
      const parts = await gate.step(() => {
        job.check();
        return slice(memoryTable, cursor);
      });
      await write(parts);
      await new Promise(setImmediate);
    }
  }
  await write([encodeLine(JSON.stringify({ end: true }))]);
  return size;
}

interface Cursor {
  after: number;
  done: boolean;
}

/** Encodes as many rows as fit into one time slice. */
function slice(memoryTable: MemoryTable, cursor: Cursor): Buffer[] {
  const until = performance.now() + SLICE_MS;
  const ids = memoryTable.idOrder();
  const lines: Buffer[] = [];
  let records: string[] = cursor.after === Number.NEGATIVE_INFINITY ? [nextIdRecord(memoryTable)] : [];
  let length = 0;
  const endLine = () => {
    if (records.length > 0) lines.push(encodeLine(`[${records.join(",")}]`));
    records = [];
    length = 0;
  };
  let at = cursor.after === Number.NEGATIVE_INFINITY ? 0 : memoryTable.placeOf(cursor.after);
  for (; at < ids.length; at++) {
    const id = ids[at]!;
    const row = memoryTable.rows.get(id);
    if (id <= cursor.after || !row) continue;
    const record = putRecord(memoryTable, row);
    records.push(record);
    length += record.length;
    cursor.after = id;
    if (length > LINE_SIZE) endLine();
    if (performance.now() > until) break;
  }
  cursor.done = at >= ids.length;
  endLine();
  return lines;
}
