// Compound files (MS-CFB): a small file system inside of a file. Only the parts that are asked for are read.
import { damaged, type PackageFile, part, requireUpTo } from "./package.ts";

const MAGIC = "d0cf11e0a1b11ae1";
const HEADER_BYTES = 512;
/** Numbers from here on are marks instead of sectors. */
const FIRST_SPECIAL = 0xffff_fffa;
const END_OF_CHAIN = 0xffff_fffe;
const FREE = 0xffff_ffff;
/** Steps of one search through the table. */
const STEPS_MAX = 1_000_000;
const ENTRY_BYTES = 128;
const SMALL_SECTOR_BYTES = 64;
const CACHED_TABLES_MAX = 64;
/** A file of 10 GB with sectors of 4 KiB has 2.6 million sectors, and its table 2,600 sectors. */
const TABLE_MAX = 32_768;
const FOLDER_MAX = 4 * 1024 * 1024;

interface Entry {
  readonly name: string;
  readonly start: number;
  readonly size: number;
}

/** The container of small streams, and the table of its sectors. */
interface SmallStreams {
  readonly container: Buffer;
  readonly table: Buffer;
}

export class CompoundFile {
  readonly #file: PackageFile;
  readonly #header: Buffer;
  readonly #sectorSize: number;
  readonly #entriesPerSector: number;
  /** Streams that are shorter are in the container of small ones. */
  readonly #cutoff: number;
  /** The sectors of the table that has the next sector of each. */
  readonly #tables: number[];
  readonly #cachedTables = new Map<number, Buffer>();
  readonly #entries = new Map<string, Entry>();
  #root: Entry | null = null;
  #smallStreams: Promise<SmallStreams> | null = null;

  private constructor(file: PackageFile, header: Buffer, sectorSize: number) {
    this.#file = file;
    this.#header = header;
    this.#sectorSize = sectorSize;
    this.#entriesPerSector = sectorSize / 4;
    this.#cutoff = header.readUInt32LE(56);
    this.#tables = Array.from({ length: 109 }, (_, i) => header.readUInt32LE(76 + i * 4));
  }

  /** Null: it is not a compound file. */
  static async open(file: PackageFile): Promise<CompoundFile | null> {
    const header = file.size < HEADER_BYTES ? null : await part(file, 0, HEADER_BYTES);
    if (header?.toString("hex", 0, 8) !== MAGIC) return null;
    const shift = header.readUInt16LE(30);
    if ((shift !== 9 && shift !== 12) || header.readUInt16LE(32) !== 6) throw damaged();
    const compound = new CompoundFile(file, header, 1 << shift);
    await compound.#readTables();
    await compound.#readFolder();
    await compound.#requireSectors();
    return compound;
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** The stream with this name, at most this long; null if there is none. */
  async stream(name: string, most: number): Promise<Buffer | null> {
    const entry = this.#entries.get(name);
    if (!entry) return null;
    if (entry.size > most) throw damaged();
    const bytes =
      entry.size < this.#cutoff ? await this.#smallStream(entry) : await this.#chain(entry.start, entry.size);
    if (bytes.length < entry.size) throw damaged();
    return bytes.subarray(0, entry.size);
  }

  async #readTables(): Promise<void> {
    const visited = new Set<number>();
    for (let next = this.#header.readUInt32LE(68); next < FIRST_SPECIAL; ) {
      if (visited.has(next) || this.#tables.length > TABLE_MAX) throw damaged();
      visited.add(next);
      const sector = await this.#sectorAt(next);
      for (let i = 0; i < this.#entriesPerSector - 1; i++) this.#tables.push(sector.readUInt32LE(i * 4));
      next = sector.readUInt32LE(this.#sectorSize - 4);
    }
  }

  async #readFolder(): Promise<void> {
    const folder = await this.#chain(this.#header.readUInt32LE(48), FOLDER_MAX);
    for (let at = 0; at + ENTRY_BYTES <= folder.length; at += ENTRY_BYTES) {
      const type = folder[at + 66];
      const length = folder.readUInt16LE(at + 64);
      if (length < 2 || length > 64) continue;
      const entry = {
        name: folder.toString("utf16le", at, at + length - 2),
        start: folder.readUInt32LE(at + 116),
        size: folder.readUInt32LE(at + 120),
      };
      if (type === 5) this.#root ??= entry;
      if (type === 2 && !this.#entries.has(entry.name)) this.#entries.set(entry.name, entry);
    }
  }

  /** The tables list every sector that is in use: none may be behind the end of the file. */
  async #requireSectors(): Promise<void> {
    const { size } = this.#file;
    const perSector = this.#entriesPerSector;
    const sectors = Math.ceil(size / this.#sectorSize) - 1;
    const used = this.#tables.flatMap((table, index) => (table < FIRST_SPECIAL ? [{ table, index }] : []));
    for (const { table } of used) if (table >= sectors) throw damaged();
    for (const { table, index } of used) {
      if ((index + 1) * perSector <= sectors) continue;
      const bytes = await this.#sectorAt(table);
      for (let i = Math.max(0, sectors - index * perSector); i < perSector; i++)
        if (bytes.readUInt32LE(i * 4) !== FREE) throw damaged();
    }
    const inLast = size % this.#sectorSize;
    if (inLast !== 0 && (await this.#after(sectors - 1)) !== FREE)
      requireUpTo(this.#file, size - inLast + (await this.#usedBytes(sectors - 1)));
  }

  /** How many bytes of the last sector its stream uses. */
  async #usedBytes(last: number): Promise<number> {
    const sectorSize = this.#sectorSize;
    if ((await this.#after(last)) !== END_OF_CHAIN) return sectorSize;
    const large = [...this.#entries.values()].filter(({ size }) => size >= this.#cutoff);
    const streams = [...(this.#root ? [this.#root] : []), ...large];
    let steps = 0;
    for (const { start, size } of streams)
      for (
        let sector = start, left = size;
        sector < FIRST_SPECIAL && left > 0;
        sector = await this.#after(sector), left -= sectorSize
      ) {
        if (sector === last) return Math.min(left, sectorSize);
        // Not worth a longer search: at most the rest of one sector could be missing.
        if (++steps > STEPS_MAX) return 0;
      }
    return sectorSize;
  }

  // The last sector may be shorter than the others.
  async #sectorAt(sector: number): Promise<Buffer> {
    const sectorSize = this.#sectorSize;
    const at = (sector + 1) * sectorSize;
    if (at >= this.#file.size) throw damaged();
    const bytes = await part(this.#file, at, Math.min(sectorSize, this.#file.size - at));
    return bytes.length === sectorSize ? bytes : Buffer.concat([bytes, Buffer.alloc(sectorSize - bytes.length)]);
  }

  /** The next sector of the stream. */
  async #after(sector: number): Promise<number> {
    const table = this.#tables[Math.floor(sector / this.#entriesPerSector)];
    if (table === undefined || table >= FIRST_SPECIAL) throw damaged();
    const bytes = this.#cachedTables.get(table) ?? (await this.#sectorAt(table));
    if (this.#cachedTables.size < CACHED_TABLES_MAX) this.#cachedTables.set(table, bytes);
    return bytes.readUInt32LE((sector % this.#entriesPerSector) * 4);
  }

  async #chain(start: number, most: number): Promise<Buffer> {
    const sectors: Buffer[] = [];
    let size = 0;
    for (let sector = start; sector < FIRST_SPECIAL && size < most; sector = await this.#after(sector)) {
      sectors.push(await this.#sectorAt(sector));
      size += this.#sectorSize;
    }
    return Buffer.concat(sectors);
  }

  async #smallStream({ start, size }: Entry): Promise<Buffer> {
    this.#smallStreams ??= this.#readSmallStreams();
    const { container, table } = await this.#smallStreams;
    const sectors: Buffer[] = [];
    for (let sector = start, read = 0; sector < FIRST_SPECIAL && read < size; read += SMALL_SECTOR_BYTES) {
      const end = (sector + 1) * SMALL_SECTOR_BYTES;
      if (end > container.length || sector * 4 + 4 > table.length) throw damaged();
      sectors.push(container.subarray(end - SMALL_SECTOR_BYTES, end));
      sector = table.readUInt32LE(sector * 4);
    }
    return Buffer.concat(sectors);
  }

  async #readSmallStreams(): Promise<SmallStreams> {
    if (!this.#root) throw damaged();
    const container = await this.#chain(this.#root.start, Math.min(this.#root.size, FOLDER_MAX));
    return { container, table: await this.#chain(this.#header.readUInt32LE(60), FOLDER_MAX) };
  }
}
