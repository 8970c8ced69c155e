// Loads the snapshot and the journals into memory, and decides how much of the end of the last journal is valid.
import { join } from "node:path";
import { type Cipher, WrongKey } from "../cipher.ts";
import { StoreDamaged } from "../store.ts";
import { replay } from "./change.ts";
import type { StoreFiles } from "./files.ts";
import { type Line, readLines } from "./lines.ts";
import type { Memory } from "./memory.ts";
import { type ProgressRecord, RECORD_NAME, type RecordReading, readRecord } from "./progress-record.ts";

export const FORMAT = 1;

/** The first line of each file. */
export interface Header {
  readonly format: number;
  readonly kind: "journal" | "snapshot";
  readonly generation: number;
  readonly key: string;
  readonly tables: readonly string[];
}

export const snapshotName = (generation: number): string => `snapshot-${generation}.jsonl`;
export const journalName = (generation: number): string => `journal-${generation}.jsonl`;

const WHAT_TO_DO = "Nothing was changed. Restore the file from a copy, or restore a backup into another directory.";

const damaged = (file: string, offset: number, reason: string): StoreDamaged =>
  new StoreDamaged(file, offset, `${reason}. ${WHAT_TO_DO}`);

const missing = (file: string): StoreDamaged =>
  new StoreDamaged(file, 0, "", `${file} is missing, although the other files need it. ${WHAT_TO_DO}`);

export interface LoadedStore {
  /** The generation of the snapshot, or 0 if there is none. */
  readonly base: number;
  readonly record: RecordReading;
  /** The journal to continue with. `size` is null if the file has yet to be created. */
  readonly generation: number;
  readonly size: number | null;
  /** Number of bytes after `size` that must be cut off first. */
  readonly torn: number;
  readonly nextLine: number;
  readonly snapshotBytes: number;
  /** Files that the next snapshot replaces, and the total size of the journals among them. */
  readonly older: readonly string[];
  readonly olderBytes: number;
  /** Unfinished files and files of older generations. */
  readonly leftovers: readonly string[];
}

function headerOf(line: Line, file: string, kind: Header["kind"]): Header {
  const header = line.value as Header;
  if (line.fault !== null || header?.kind !== kind) throw damaged(file, line.offset, line.fault ?? "not a header line");
  return header;
}

function checkHeader(line: Line, file: string, kind: Header["kind"], memory: Memory, cipher: Cipher): void {
  const header = headerOf(line, file, kind);
  if (header.format !== FORMAT) throw new Error(`${file} has format ${header.format}; this version reads ${FORMAT}`);
  if (header.key !== cipher.keyId)
    throw new WrongKey(`${file} was written with server key ${header.key}, this server has key ${cipher.keyId}`);
  for (const name of header.tables)
    if (!memory.tables.has(name))
      throw new Error(`${file} has an unknown table ${name}: it was probably written by a newer version of svc`);
}

async function loadSnapshot(files: StoreFiles, file: string, memory: Memory, cipher: Cipher): Promise<number> {
  let count = 0;
  let ended = false;
  let at = 0;
  for await (const line of readLines(files.read(file))) {
    at = line.end;
    if (ended) throw damaged(file, line.offset, "unexpected data after the last line");
    if (line.fault !== null) throw damaged(file, line.offset, line.fault);
    if (count++ === 0) checkHeader(line, file, "snapshot", memory, cipher);
    else if (Array.isArray(line.value)) for (const record of line.value) replay(memory, record);
    else ended = (line.value as { end?: boolean }).end === true;
  }
  if (!ended) throw damaged(file, at, "the file is cut short");
  return at;
}

interface JournalEnd {
  /** The end of the last complete transaction, and the end of the file. */
  readonly size: number;
  readonly fileSize: number;
  readonly nextLine: number;
  readonly fault: string | null;
}

/**
 * `[line number, number of the first line of its group, 1 if its transaction continues on the next line, ...records]`
 */
type JournalLine = readonly [number, number, 0 | 1, ...unknown[]];

/**
 * Lines are synced in groups, and a group is written only after the previous one was synced. So a damaged line counts
 * as torn if no line after it belongs to a later group: it was never acknowledged. Anything else is corruption.
 */
async function loadJournal(files: StoreFiles, file: string, memory: Memory, cipher: Cipher): Promise<JournalEnd> {
  let size = 0;
  let fileSize = 0;
  let nextLine = 0;
  let expected = 0;
  let fault: { readonly offset: number; readonly reason: string } | null = null;
  let open: unknown[] = [];
  for await (const line of readLines(files.read(file))) {
    fileSize = line.end;
    // A journal is renamed to its final name only after its header is durable, so a crash cannot have torn the
    // header.
    if (expected === 0) {
      checkHeader(line, file, "journal", memory, cipher);
      size = line.end;
      nextLine = expected = 1;
      continue;
    }
    if (line.fault !== null) {
      fault ??= { offset: line.offset, reason: line.fault };
      continue;
    }
    const [number, first, goesOn, ...records] = line.value as JournalLine;
    if (number !== expected) fault ??= { offset: line.offset, reason: `line ${number} follows line ${expected - 1}` };
    if (fault) {
      if (first > expected) throw damaged(file, fault.offset, fault.reason);
      continue;
    }
    expected++;
    open.push(...records);
    if (goesOn === 1) continue;
    for (const record of open) replay(memory, record);
    open = [];
    size = line.end;
    nextLine = expected;
  }
  if (expected === 0) throw damaged(file, 0, "the file is empty");
  return { size, fileSize, nextLine, fault: fault?.reason ?? (size < fileSize ? "a transaction is cut short" : null) };
}

function numbered(names: readonly string[], kind: string): number[] {
  const pattern = new RegExp(`^${kind}-([1-9]\\d*)\\.jsonl$`);
  return names
    .map((name) => Number(pattern.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .sort((a, b) => a - b);
}

/**
 * Whether any transaction was written to a journal. The header must be valid in any case, but it may name the new key
 * of an interrupted key rotation.
 */
async function hasTransactions(files: StoreFiles, file: string): Promise<boolean> {
  let isHeader = true;
  for await (const line of readLines(files.read(file))) {
    if (isHeader) headerOf(line, file, "journal");
    else if (Array.isArray(line.value)) return true;
    isHeader = false;
  }
  if (isHeader) throw damaged(file, 0, "the file is empty");
  return false;
}

/** Throws if files are missing that an earlier run recorded as durable. */
function checkFiles(dir: string, base: number, journals: readonly number[], record: RecordReading): void {
  const progress: ProgressRecord =
    record === null || record === "unreadable" ? { snapshot: 0, journal: 1, lines: 0 } : record;
  if (base < progress.snapshot) throw missing(join(dir, snapshotName(progress.snapshot)));
  // A snapshot is renamed to its final name only after its journal is durable.
  if (base > 0 && journals.length === 0) throw missing(join(dir, journalName(base)));
  if (base === 0 && journals.length > 0 && journals[0] !== 1) throw missing(join(dir, snapshotName(journals[0]!)));
  if (record !== null && journals.length === 0) throw missing(join(dir, journalName(progress.journal)));
  if (progress.lines > 0 && progress.journal >= base && !journals.includes(progress.journal))
    throw missing(join(dir, journalName(progress.journal)));
}

function checkLines(file: string, generation: number, end: JournalEnd, record: RecordReading): void {
  if (record === null || record === "unreadable" || record.journal !== generation) return;
  if (end.nextLine < record.lines)
    throw damaged(file, end.size, `it has ${end.nextLine - 1} of at least ${record.lines - 1} transaction lines`);
}

/**
 * The id of the key that the directory is encrypted with, taken from the newest file that names one. Null if there is
 * no store; `unknown` if there is a store but no file names the key.
 */
export async function keyIdOfStore(files: StoreFiles, dir: string): Promise<string | "unknown" | null> {
  const names = await files.list(dir).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const snapshots = numbered(names, "snapshot").map(snapshotName);
  const journals = numbered(names, "journal").map(journalName);
  for (const name of [...snapshots.reverse(), ...journals]) {
    for await (const line of readLines(files.read(join(dir, name)))) {
      const key = line.fault === null ? (line.value as Partial<Header> | null)?.key : undefined;
      if (typeof key === "string") return key;
      break;
    }
  }
  return snapshots.length + journals.length > 0 || names.includes(RECORD_NAME) ? "unknown" : null;
}

export async function load(files: StoreFiles, dir: string, memory: Memory, cipher: Cipher): Promise<LoadedStore> {
  const names = await files.list(dir);
  const base = numbered(names, "snapshot").at(-1) ?? 0;
  const snapshotBytes = base === 0 ? 0 : await loadSnapshot(files, join(dir, snapshotName(base)), memory, cipher);
  const all = numbered(names, "journal").filter((generation) => generation >= base);
  const record = await readRecord(files, dir, names);
  checkFiles(dir, base, all, record);

  // The list may end with journals that were created but never written: the one before them is the one that may be
  // torn.
  let last = all.length - 1;
  const isUnused = async (generation: number): Promise<boolean> => {
    if (await hasTransactions(files, join(dir, journalName(generation)))) return false;
    return record === null || record === "unreadable" || record.journal !== generation || record.lines <= 1;
  };
  while (last > 0 && (await isUnused(all[last]!))) last--;
  let olderBytes = 0;
  let end: JournalEnd = { size: 0, fileSize: 0, nextLine: 0, fault: null };
  for (let i = 0; i <= last; i++) {
    const file = join(dir, journalName(all[i]!));
    if (base + i !== all[i]! - (base === 0 ? 1 : 0)) throw missing(join(dir, journalName(all[i]! - 1)));
    end = await loadJournal(files, file, memory, cipher);
    checkLines(file, all[i]!, end, record);
    if (end.fault !== null && i < last) throw damaged(file, end.size, end.fault);
    if (i < last) olderBytes += end.size;
  }
  for (const memoryTable of memory.tables.values()) memoryTable.buildIndexes();

  const generation = all[last] ?? Math.max(base, 1);
  const older = [...all.slice(0, Math.max(0, last)).map(journalName), ...(base === 0 ? [] : [snapshotName(base)])];
  const kept = new Set([journalName(generation), ...older]);
  const leftovers = names.filter(
    (name) => name === `${RECORD_NAME}.tmp` || (/^(snapshot|journal)-/.test(name) && !kept.has(name)),
  );
  const hasJournal = all.length > 0;
  return {
    base,
    record,
    generation,
    size: hasJournal ? end.size : null,
    torn: hasJournal ? end.fileSize - end.size : 0,
    nextLine: hasJournal ? end.nextLine : 1,
    snapshotBytes,
    older,
    olderBytes,
    leftovers,
  };
}
