// Reads snapshot and journals back into memory, and decides what of the end of the last journal counts.
import { join } from "node:path";
import { type Cipher, WrongKey } from "../../core/cipher.ts";
import { StoreDamaged } from "../store.ts";
import { replay } from "./change.ts";
import type { StoreFiles } from "./files.ts";
import { type Line, readLines } from "./lines.ts";
import type { Memory } from "./memory.ts";

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

export interface Loaded {
  /** The journal to go on with; `size` null when it must be made. */
  readonly generation: number;
  readonly size: number | null;
  /** Bytes after `size` that must be cut off first. */
  readonly torn: number;
  readonly nextLine: number;
  readonly snapshotBytes: number;
  /** Files that the next snapshot replaces, and the bytes of the journals among them. */
  readonly older: readonly string[];
  readonly olderBytes: number;
  /** Files of older generations and unfinished ones. */
  readonly leftovers: readonly string[];
}

function checkHeader(line: Line, file: string, kind: Header["kind"], memory: Memory, cipher: Cipher): void {
  const header = line.value as Header;
  if (line.fault !== null || header?.kind !== kind)
    throw new StoreDamaged(file, line.offset, line.fault ?? "not a header line");
  if (header.format !== FORMAT) throw new Error(`${file} has format ${header.format}; this version reads ${FORMAT}`);
  if (header.key !== cipher.keyId)
    throw new WrongKey(`${file} was written with server key ${header.key}, this server has key ${cipher.keyId}`);
  for (const name of header.tables)
    if (!memory.tables.has(name))
      throw new Error(`${file} has a table ${name}, which this version does not know: was it written by a newer one?`);
}

async function loadSnapshot(files: StoreFiles, file: string, memory: Memory, cipher: Cipher): Promise<number> {
  let count = 0;
  let ended = false;
  let at = 0;
  for await (const line of readLines(files.read(file))) {
    at = line.end;
    if (ended) throw new StoreDamaged(file, line.offset, "there is more after the last line");
    if (line.fault !== null) throw new StoreDamaged(file, line.offset, line.fault);
    if (count++ === 0) checkHeader(line, file, "snapshot", memory, cipher);
    else if (Array.isArray(line.value)) for (const record of line.value) replay(memory, record);
    else ended = (line.value as { end?: boolean }).end === true;
  }
  if (!ended) throw new StoreDamaged(file, at, "the file is cut short");
  return at;
}

interface JournalEnd {
  /** Where whole transactions end, and where the file does. */
  readonly size: number;
  readonly fileSize: number;
  readonly nextLine: number;
  readonly fault: string | null;
}

/** `[number of the line, number of the first line of its group, 1 if its transaction goes on in the next line, ...records]` */
type JournalLine = readonly [number, number, 0 | 1, ...unknown[]];

/**
 * Lines are synced in groups, and a group is written after the one before it was synced. So what is damaged counts as torn
 * where nothing after it belongs to a later group: none of it was ever acknowledged. Anything else is damage.
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
    if (line.fault !== null) {
      fault ??= { offset: line.offset, reason: line.fault };
      continue;
    }
    if (expected === 0 && !fault) {
      checkHeader(line, file, "journal", memory, cipher);
      size = line.end;
      nextLine = expected = 1;
      continue;
    }
    const [number, first, goesOn, ...records] = line.value as JournalLine;
    if (number !== expected) fault ??= { offset: line.offset, reason: `line ${number} follows line ${expected - 1}` };
    if (fault) {
      if (expected === 0 || first > expected) throw new StoreDamaged(file, fault.offset, fault.reason);
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
  return { size, fileSize, nextLine, fault: fault?.reason ?? (size < fileSize ? "a transaction is cut short" : null) };
}

function numbered(names: readonly string[], kind: string): number[] {
  const pattern = new RegExp(`^${kind}-([1-9]\\d*)\\.jsonl$`);
  return names
    .map((name) => Number(pattern.exec(name)?.[1] ?? 0))
    .filter((generation) => generation > 0)
    .sort((a, b) => a - b);
}

/** A journal without a whole line but its first was never written to. */
async function holdsLines(files: StoreFiles, file: string): Promise<boolean> {
  for await (const line of readLines(files.read(file))) if (Array.isArray(line.value)) return true;
  return false;
}

export async function load(files: StoreFiles, dir: string, memory: Memory, cipher: Cipher): Promise<Loaded> {
  const names = await files.list(dir);
  const base = numbered(names, "snapshot").at(-1) ?? 0;
  const snapshotBytes = base === 0 ? 0 : await loadSnapshot(files, join(dir, snapshotName(base)), memory, cipher);
  const all = numbered(names, "journal").filter((generation) => generation >= base);
  if (base === 0 && all.length > 0 && all[0] !== 1)
    throw new StoreDamaged(join(dir, snapshotName(all[0]!)), 0, "the file is missing");

  // Journals that were made but never written to end the list: the one before them is the one that may be torn.
  let last = all.length - 1;
  while (last > 0 && !(await holdsLines(files, join(dir, journalName(all[last]!))))) last--;
  let olderBytes = 0;
  let end: JournalEnd = { size: 0, fileSize: 0, nextLine: 0, fault: null };
  for (let i = 0; i <= last; i++) {
    const file = join(dir, journalName(all[i]!));
    if (base + i !== all[i]! - (base === 0 ? 1 : 0))
      throw new StoreDamaged(join(dir, journalName(all[i]! - 1)), 0, "the file is missing");
    end = await loadJournal(files, file, memory, cipher);
    if (end.fault !== null && i < last) throw new StoreDamaged(file, end.size, end.fault);
    if (i < last) olderBytes += end.size;
  }
  for (const held of memory.tables.values()) held.buildIndexes();

  const generation = all[last] ?? Math.max(base, 1);
  const older = [...all.slice(0, Math.max(0, last)).map(journalName), ...(base === 0 ? [] : [snapshotName(base)])];
  const kept = new Set([journalName(generation), ...older]);
  const leftovers = names.filter((name) => /^(snapshot|journal)-/.test(name) && !kept.has(name));
  const made = all.length > 0 && end.nextLine > 0;
  return {
    generation,
    size: made ? end.size : null,
    torn: made ? end.fileSize - end.size : 0,
    nextLine: Math.max(1, end.nextLine),
    snapshotBytes,
    older,
    olderBytes,
    leftovers,
  };
}
