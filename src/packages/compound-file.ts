// Compound files (MS-CFB): a small file system inside of a file. Only the parts that are asked for are read.
import { damaged, type PackageFile, part, requireUpTo } from "./package.ts";

const MAGIC = "d0cf11e0a1b11ae1";
const HEADER = 512;
const END = 0xffff_fffa;
const END_OF_CHAIN = 0xffff_fffe;
const FREE = 0xffff_ffff;
/** Steps of one search through the table. */
const STEPS_MAX = 1_000_000;
const ENTRY = 128;
/** A file of 10 GB with sectors of 4 KiB has 2.6 million sectors, and its table 2,600 sectors. */
const TABLE_MAX = 32_768;
const FOLDER_MAX = 4 * 1024 * 1024;

interface Entry {
  readonly name: string;
  readonly start: number;
  readonly size: number;
}

interface CompoundFile {
  readonly names: readonly string[];
  /** The stream with this name, at most this long; null if there is none. */
  stream(name: string, most: number): Promise<Buffer | null>;
}

/** Null: it is not a compound file. */
export async function openCompoundFile(file: PackageFile): Promise<CompoundFile | null> {
  const header = file.size < HEADER ? null : await part(file, 0, HEADER);
  if (header?.toString("hex", 0, 8) !== MAGIC) return null;
  const shift = header.readUInt16LE(30);
  if ((shift !== 9 && shift !== 12) || header.readUInt16LE(32) !== 6) throw damaged();
  const sectorSize = 1 << shift;
  const perSector = sectorSize / 4;
  const cutoff = header.readUInt32LE(56);
  const offsetOf = (sector: number) => (sector + 1) * sectorSize;
  // The last sector may be shorter than the others.
  const sectorAt = async (sector: number): Promise<Buffer> => {
    const at = offsetOf(sector);
    if (at >= file.size) throw damaged();
    const bytes = await part(file, at, Math.min(sectorSize, file.size - at));
    return bytes.length === sectorSize ? bytes : Buffer.concat([bytes, Buffer.alloc(sectorSize - bytes.length)]);
  };

  const tables = Array.from({ length: 109 }, (_, i) => header.readUInt32LE(76 + i * 4));
  const seen = new Set<number>();
  for (let next = header.readUInt32LE(68); next < END; ) {
    if (seen.has(next) || tables.length > TABLE_MAX) throw damaged();
    seen.add(next);
    const sector = await sectorAt(next);
    for (let i = 0; i < perSector - 1; i++) tables.push(sector.readUInt32LE(i * 4));
    next = sector.readUInt32LE(sectorSize - 4);
  }
  const cached = new Map<number, Buffer>();
  const after = async (sector: number): Promise<number> => {
    const table = tables[Math.floor(sector / perSector)];
    if (table === undefined || table >= END) throw damaged();
    const bytes = cached.get(table) ?? (await sectorAt(table));
    if (cached.size < 64) cached.set(table, bytes);
    return bytes.readUInt32LE((sector % perSector) * 4);
  };
  const chain = async (start: number, most: number): Promise<Buffer> => {
    const sectors: Buffer[] = [];
    let size = 0;
    for (let sector = start; sector < END && size < most; sector = await after(sector)) {
      sectors.push(await sectorAt(sector));
      size += sectorSize;
    }
    return Buffer.concat(sectors);
  };

  const folder = await chain(header.readUInt32LE(48), FOLDER_MAX);
  const entries = new Map<string, Entry>();
  let root: Entry | null = null;
  for (let at = 0; at + ENTRY <= folder.length; at += ENTRY) {
    const type = folder[at + 66];
    const length = folder.readUInt16LE(at + 64);
    if (length < 2 || length > 64) continue;
    const entry = {
      name: folder.toString("utf16le", at, at + length - 2),
      start: folder.readUInt32LE(at + 116),
      size: folder.readUInt32LE(at + 120),
    };
    if (type === 5) root ??= entry;
    if (type === 2 && !entries.has(entry.name)) entries.set(entry.name, entry);
  }

  await requireSectors();

  /** The tables list every sector that is in use: none may be behind the end of the file. */
  async function requireSectors(): Promise<void> {
    const sectors = Math.ceil(file.size / sectorSize) - 1;
    const used = tables.flatMap((table, index) => (table < END ? [{ table, index }] : []));
    for (const { table } of used) if (table >= sectors) throw damaged();
    for (const { table, index } of used) {
      if ((index + 1) * perSector <= sectors) continue;
      const bytes = await sectorAt(table);
      for (let i = Math.max(0, sectors - index * perSector); i < perSector; i++)
        if (bytes.readUInt32LE(i * 4) !== FREE) throw damaged();
    }
    const inLast = file.size % sectorSize;
    if (inLast !== 0 && (await after(sectors - 1)) !== FREE)
      requireUpTo(file, file.size - inLast + (await lastBytes(sectors - 1)));
  }

  /** How many bytes of the last sector its stream uses. */
  async function lastBytes(last: number): Promise<number> {
    if ((await after(last)) !== END_OF_CHAIN) return sectorSize;
    const streams = [...(root ? [root] : []), ...[...entries.values()].filter(({ size }) => size >= cutoff)];
    let steps = 0;
    for (const { start, size } of streams)
      for (
        let sector = start, left = size;
        sector < END && left > 0;
        sector = await after(sector), left -= sectorSize
      ) {
        if (sector === last) return Math.min(left, sectorSize);
        // Not worth a longer search: at most the rest of one sector could be missing.
        if (++steps > STEPS_MAX) return 0;
      }
    return sectorSize;
  }

  async function stream(name: string, most: number): Promise<Buffer | null> {
    const entry = entries.get(name);
    if (!entry) return null;
    if (entry.size > most) throw damaged();
    const bytes = entry.size < cutoff ? await small(entry) : await chain(entry.start, entry.size);
    if (bytes.length < entry.size) throw damaged();
    return bytes.subarray(0, entry.size);
  }

  let small_: Promise<{ container: Buffer; table: Buffer }> | null = null;
  async function small({ start, size }: Entry): Promise<Buffer> {
    small_ ??= (async () => {
      if (!root) throw damaged();
      const container = await chain(root.start, Math.min(root.size, FOLDER_MAX));
      return { container, table: await chain(header!.readUInt32LE(60), FOLDER_MAX) };
    })();
    const { container, table } = await small_;
    const sectors: Buffer[] = [];
    for (let sector = start, read = 0; sector < END && read < size; read += 64) {
      if ((sector + 1) * 64 > container.length || sector * 4 + 4 > table.length) throw damaged();
      sectors.push(container.subarray(sector * 64, (sector + 1) * 64));
      sector = table.readUInt32LE(sector * 4);
    }
    return Buffer.concat(sectors);
  }

  return { names: [...entries.keys()], stream };
}
