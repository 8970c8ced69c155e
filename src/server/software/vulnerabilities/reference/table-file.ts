// A file of records that are looked up by key: it is written once, in one pass, and read by ranges. A key may have
// several records. Layout, all numbers little-endian:
//
//   magic   8 bytes
//   records key length (u16), value length (u32), key, value (JSON); each starts at a multiple of 8
//   index   per record: hash of the key (u32), offset / 8 (u32), length (u32); grouped into buckets by the hash
//   buckets first index entry of each bucket (u32), and the number of records
//   footer  offset of the index (f64), offset of the buckets (f64), records (u32), buckets (u32), magic
//
// Only the buckets' starts are kept in memory: 4 bytes per 32 records.

const MAGIC = Buffer.from("svcref1\n");
const RECORD_HEAD_BYTES = 6;
const INDEX_ENTRY = 12;
const FOOTER = 32;
const PER_BUCKET = 32;
const CHUNK_BYTES = 256 * 1024;
const KEY_MAX = 1_000;
const VALUE_MAX = 16 * 1024 * 1024;

export interface Entry {
  readonly key: string;
  readonly value: unknown;
}

export class BadTableFile extends Error {}

/** FNV-1a, mixed so that its upper bits, which select the bucket, depend on all characters. */
function hashOf(bytes: Buffer, from = 0, to = bytes.length): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const bucketOf = (hash: number, buckets: number): number => Math.floor((hash * buckets) / 2 ** 32);

/** The index of the records written so far: 12 bytes for each. */
class Index {
  #numbers = new Uint32Array(3 * 4096);
  count = 0;

  add(hash: number, offset: number, length: number): void {
    const at = this.count * 3;
    if (at === this.#numbers.length) {
      const larger = new Uint32Array(at * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[at] = hash;
    this.#numbers[at + 1] = offset / 8;
    this.#numbers[at + 2] = length;
    this.count++;
  }

  /** The index and the buckets as they stand in the file. */
  sorted(): { index: Buffer; starts: Buffer; buckets: number } {
    const buckets = Math.max(1, Math.ceil(this.count / PER_BUCKET));
    const next = new Uint32Array(buckets + 1);
    for (let i = 0; i < this.count; i++) next[bucketOf(this.#numbers[i * 3]!, buckets) + 1]!++;
    for (let i = 0; i < buckets; i++) next[i + 1]! += next[i]!;
    const starts = Buffer.alloc(4 * (buckets + 1));
    for (let i = 0; i <= buckets; i++) starts.writeUInt32LE(next[i]!, i * 4);
    const index = Buffer.alloc(this.count * INDEX_ENTRY);
    for (let i = 0; i < this.count; i++) {
      const place = next[bucketOf(this.#numbers[i * 3]!, buckets)]!++ * INDEX_ENTRY;
      for (let n = 0; n < 3; n++) index.writeUInt32LE(this.#numbers[i * 3 + n]!, place + n * 4);
    }
    return { index, starts, buckets };
  }
}

/**
 * The bytes of a table file with these entries. Records are written into one large buffer, because small ones for each of
 * their parts would keep the garbage collection busy. No part shares its memory with another one.
 */
export async function* tableFile(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer, void, undefined> {
  const index = new Index();
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let used = MAGIC.copy(chunk);
  let offset = MAGIC.length;
  for await (const { key, value } of entries) {
    const text = JSON.stringify(value);
    const nameLength = Buffer.byteLength(key);
    const textLength = Buffer.byteLength(text);
    // Names that long, and values that large, are not in any real feed.
    if (nameLength > KEY_MAX || textLength > VALUE_MAX) continue;
    const length = RECORD_HEAD_BYTES + nameLength + textLength;
    const padded = Math.ceil(length / 8) * 8;
    if (used + padded > chunk.length) {
      yield chunk.subarray(0, used);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, padded));
      used = 0;
    }
    chunk.writeUInt16LE(nameLength, used);
    chunk.writeUInt32LE(textLength, used + 2);
    const nameAt = used + RECORD_HEAD_BYTES;
    chunk.write(key, nameAt);
    chunk.write(text, nameAt + nameLength);
    chunk.fill(0, used + length, used + padded);
    index.add(hashOf(chunk, nameAt, nameAt + nameLength), offset, length);
    offset += padded;
    used += padded;
  }
  const { index: sorted, starts, buckets } = index.sorted();
  const footer = Buffer.alloc(FOOTER);
  footer.writeDoubleLE(offset, 0);
  footer.writeDoubleLE(offset + sorted.length, 8);
  footer.writeUInt32LE(index.count, 16);
  footer.writeUInt32LE(buckets, 20);
  MAGIC.copy(footer, 24);
  yield chunk.subarray(0, used);
  yield sorted;
  yield starts;
  yield footer;
}

/** Reads bytes of the file. Local files answer at once, which saves a turn of the event loop for each lookup. */
type ReadRange = (start: number, length: number) => Buffer | Promise<Buffer>;

export interface TableFile {
  /** The values of all records with the key, in the order in which they were written. */
  get(key: string): Promise<unknown[]>;
  readonly records: number;
}

/** Throws `BadTableFile` if the bytes are not such a file. */
export async function openTableFile(size: number, read: ReadRange): Promise<TableFile> {
  if (size < MAGIC.length + FOOTER) throw new BadTableFile("the reference file is too short");
  const footer = await read(size - FOOTER, FOOTER);
  if (footer.length < FOOTER || !footer.subarray(24).equals(MAGIC))
    throw new BadTableFile("the reference file has no valid end");
  const indexAt = footer.readDoubleLE(0);
  const startsAt = footer.readDoubleLE(8);
  const records = footer.readUInt32LE(16);
  const buckets = footer.readUInt32LE(20);
  const isWhole = startsAt === indexAt + records * INDEX_ENTRY && size === startsAt + 4 * (buckets + 1) + FOOTER;
  if (!isWhole) throw new BadTableFile("the reference file is incomplete");
  const starts = await read(startsAt, 4 * (buckets + 1));

  return {
    records,
    async get(key) {
      const name = Buffer.from(key);
      const hash = hashOf(name);
      const bucket = bucketOf(hash, buckets);
      const first = starts.readUInt32LE(bucket * 4);
      const count = starts.readUInt32LE(bucket * 4 + 4) - first;
      if (count === 0) return [];
      const records: unknown[] = [];
      const entries = await read(indexAt + first * INDEX_ENTRY, count * INDEX_ENTRY);
      for (let at = 0; at < entries.length; at += INDEX_ENTRY) {
        if (entries.readUInt32LE(at) !== hash) continue;
        const bytes = await read(entries.readUInt32LE(at + 4) * 8, entries.readUInt32LE(at + 8));
        const keyEnd = RECORD_HEAD_BYTES + bytes.readUInt16LE(0);
        if (!bytes.subarray(RECORD_HEAD_BYTES, keyEnd).equals(name)) continue;
        records.push(JSON.parse(bytes.toString("utf8", keyEnd, keyEnd + bytes.readUInt32LE(2))));
      }
      return records;
    },
  };
}
