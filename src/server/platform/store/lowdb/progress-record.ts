// `store.json` records which files the directory contains. Without it, a store whose files are missing would look
// new.
import { join } from "node:path";
import type { StoreFiles } from "./files.ts";

export const RECORD_NAME = "store.json";
const FORMAT = 1;
/** The record is smaller than a kilobyte: svc did not write a file larger than this limit. */
const SIZE_MAX = 64 * 1024;

export interface ProgressRecord {
  /** The generation of the newest durable snapshot, or 0 if there is none yet. */
  readonly snapshot: number;
  /** The journal of this generation is durable up to line `lines`. */
  readonly journal: number;
  /** Excludes the last group, because a torn end is dropped. */
  readonly lines: number;
}

/** Null: there is no record. `unreadable`: the file exists, so there was a store, but its extent is unknown. */
export type RecordReading = ProgressRecord | "unreadable" | null;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export async function readRecord(files: StoreFiles, dir: string, names: readonly string[]): Promise<RecordReading> {
  if (!names.includes(RECORD_NAME)) return null;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of files.read(join(dir, RECORD_NAME))) {
    size += part.length;
    if (size > SIZE_MAX) return "unreadable";
    parts.push(part);
  }
  try {
    const record = JSON.parse(Buffer.concat(parts).toString("utf8")) as Record<string, unknown> | null;
    if (record?.format !== FORMAT) return "unreadable";
    const { snapshot, journal, lines } = record;
    return isCount(snapshot) && isCount(journal) && isCount(lines) ? { snapshot, journal, lines } : "unreadable";
  } catch {
    return "unreadable";
  }
}

/** Call it only after everything that the record promises is durable. */
export async function writeRecord(files: StoreFiles, dir: string, record: ProgressRecord): Promise<void> {
  const path = join(dir, RECORD_NAME);
  const draft = `${path}.tmp`;
  const file = await files.create(draft);
  try {
    await file.write(Buffer.from(`${JSON.stringify({ format: FORMAT, ...record })}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(draft, path);
  await files.syncDir(dir);
}
