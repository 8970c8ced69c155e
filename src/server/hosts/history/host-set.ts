// Sets of host ids: as bits while they are computed with, as text while they are stored. The text has the bits, or the
// differences between ids if few hosts are in the set, and the store compresses it.

const BITS = 32;

/** A set of host ids as bits. Ids are assigned in order, so that few bits are unused. */
export class HostBits {
  #words: Uint32Array;
  #bytes: Uint8Array;

  constructor(words: Uint32Array = new Uint32Array(0)) {
    this.#words = words;
    this.#bytes = bytesOf(words);
  }

  static of(ids: Iterable<number>): HostBits {
    const bits = new HostBits();
    for (const id of ids) bits.add(id);
    return bits;
  }

  add(id: number): void {
    this.#reserve(id + 1);
    this.#bytes[id >> 3]! |= 1 << (id & 7);
  }

  has(id: number): boolean {
    return ((this.#bytes[id >> 3] ?? 0) & (1 << (id & 7))) !== 0;
  }

  copy(): HostBits {
    return new HostBits(this.#words.slice());
  }

  /** Adds the hosts of another set. */
  addAll(other: HostBits): void {
    const words = other.#words;
    this.#reserve(words.length * BITS);
    const target = this.#words;
    for (let i = 0; i < words.length; i++) target[i]! |= words[i]!;
  }

  removeAll(other: HostBits): void {
    const [target, words] = [this.#words, other.#words];
    const length = Math.min(target.length, words.length);
    for (let i = 0; i < length; i++) target[i]! &= ~words[i]!;
  }

  /** Adds the hosts of the other set that are not in this one, and removes those that are. */
  toggleAll(other: HostBits): void {
    const words = other.#words;
    this.#reserve(words.length * BITS);
    const target = this.#words;
    for (let i = 0; i < words.length; i++) target[i]! ^= words[i]!;
  }

  get size(): number {
    let count = 0;
    for (const word of this.#words) count += bitCount(word);
    return count;
  }

  /** The number of hosts that are in the other set, too. */
  sizeWithin(other: HostBits): number {
    const [words, others] = [this.#words, other.#words];
    const length = Math.min(words.length, others.length);
    let count = 0;
    for (let i = 0; i < length; i++) count += bitCount(words[i]! & others[i]!);
    return count;
  }

  *ids(): Generator<number> {
    const bytes = this.#bytes;
    for (let at = 0; at < bytes.length; at++)
      for (let bit = 0, byte = bytes[at]!; byte !== 0; bit++, byte >>= 1) if ((byte & 1) !== 0) yield at * 8 + bit;
  }

  /** The memory that it uses. */
  get byteLength(): number {
    return this.#bytes.length;
  }

  /** The text that is stored. Equal sets have equal texts. */
  encode(): string {
    const bytes = this.#bytes;
    let [from, to] = [0, bytes.length];
    while (from < to && bytes[from] === 0) from++;
    while (to > from && bytes[to - 1] === 0) to--;
    if (this.size * MAX_SPARSE_BYTES <= to - from) return SPARSE + sparseBytes(this.ids()).toString("base64");
    return `${from}:${Buffer.from(bytes.subarray(from, to)).toString("base64")}`;
  }

  static decode(text: string): HostBits {
    if (text.startsWith(SPARSE)) return HostBits.of(sparseIds(Buffer.from(text.slice(1), "base64")));
    const colon = text.indexOf(":");
    const [from, content] = [Number(text.slice(0, colon)), Buffer.from(text.slice(colon + 1), "base64")];
    const words = new Uint32Array(Math.ceil((from + content.length) / Uint32Array.BYTES_PER_ELEMENT));
    bytesOf(words).set(content, from);
    return new HostBits(words);
  }

  #reserve(bits: number): void {
    const length = Math.ceil(bits / BITS);
    if (length <= this.#words.length) return;
    // A set that grows one by one is copied seldom.
    const words = new Uint32Array(this.#words.length === 0 ? length : Math.max(length, this.#words.length * 2));
    words.set(this.#words);
    this.#words = words;
    this.#bytes = bytesOf(words);
  }
}

/** Bytes and not words have a fixed order on every machine, so bits are set and stored by bytes. */
const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength);

/** The number of set bits of 32 (Hacker's Delight, 5-1). */
function bitCount(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const SPARSE = "+";
/** An id takes fewer bytes than this, unless the ids are far apart. */
const MAX_SPARSE_BYTES = 3;

/** The differences of ascending ids, seven bits a byte, the lowest first. */
function sparseBytes(ids: Iterable<number>): Buffer {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    let difference = id - last;
    last = id;
    for (; difference > 0x7f; difference >>>= 7) bytes.push((difference & 0x7f) | 0x80);
    bytes.push(difference);
  }
  return Buffer.from(bytes);
}

function* sparseIds(bytes: Buffer): Generator<number> {
  let [id, difference, shift] = [0, 0, 0];
  for (const byte of bytes) {
    difference |= (byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) !== 0) continue;
    id += difference;
    [difference, shift] = [0, 0];
    yield id;
  }
}
