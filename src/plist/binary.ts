// Binary property lists ("bplist00"), as CoreFoundation's CFBinaryPList.c describes them.

import { NOT_XML } from "../xml/write.ts";
import { addMember, BadPlist, integer, type PlistLimits, type PlistValue } from "./value.ts";

const MAGIC = "bplist00";
const TRAILER = 32;
/** Seconds between 1970 and 2001. */
const EPOCH = 978_307_200;

export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, MAGIC.length).toString("latin1") === MAGIC;

export const readBinary = (bytes: Buffer, limits: PlistLimits): PlistValue => new Reading(bytes, limits).top();

/** A value that contains no others, and the room that it takes. */
interface Simple {
  readonly value: PlistValue;
  readonly bytes: number;
}

class Reading {
  readonly #bytes: Buffer;
  readonly #limits: PlistLimits;
  /** Where objects end, and their table begins. */
  readonly #end: number;
  readonly #objects: number;
  readonly #offsetSize: number;
  readonly #refSize: number;
  readonly #top: number;
  /** Objects may be referred to many times: each is decoded once, but counted every time. */
  readonly #simple = new Map<number, Simple>();
  #count = 0;
  #expanded = 0;

  constructor(bytes: Buffer, limits: PlistLimits) {
    if (bytes.length < MAGIC.length + TRAILER + 2) stop("is too short");
    this.#bytes = bytes;
    this.#limits = limits;
    const trailer = bytes.length - TRAILER;
    this.#offsetSize = bytes[trailer + 6]!;
    this.#refSize = bytes[trailer + 7]!;
    this.#objects = this.#position(trailer + 8);
    this.#top = this.#position(trailer + 16);
    this.#end = this.#position(trailer + 24);
    const isPossible =
      [this.#offsetSize, this.#refSize].every((size) => size >= 1 && size <= 6) &&
      this.#end > MAGIC.length &&
      this.#end + this.#objects * this.#offsetSize <= trailer;
    if (!isPossible) stop("has a damaged trailer");
  }

  top(): PlistValue {
    return this.#read(this.#top, 0);
  }

  #position(at: number): number {
    const value = this.#bytes.readBigUInt64BE(at);
    return value > BigInt(this.#bytes.length) ? stop("has a damaged trailer") : Number(value);
  }

  #read(index: number, depth: number): PlistValue {
    if (++this.#count > this.#limits.count) stop("has too many values");
    const cached = this.#simple.get(index);
    if (cached) return this.#counted(cached);
    if (index >= this.#objects) return damaged();
    const at = this.#bytes.readUIntBE(this.#end + index * this.#offsetSize, this.#offsetSize);
    if (at < MAGIC.length || at >= this.#end) return damaged();
    const type = this.#bytes[at]! >> 4;
    if (type === 0xa || type === 0xd) {
      // The depth limit also ends lists that contain themselves.
      if (depth === this.#limits.depth) stop("is nested too deeply");
      return type === 0xa ? this.#array(at, depth + 1) : this.#dict(at, depth + 1);
    }
    const simple = this.#simpleAt(at, type);
    this.#simple.set(index, simple);
    return this.#counted(simple);
  }

  #counted({ value, bytes }: Simple): PlistValue {
    this.#expanded += bytes;
    if (this.#expanded > this.#limits.bytes) stop("is too large with its repeated values");
    return value;
  }

  #array(at: number, depth: number): PlistValue[] {
    const [length, refs] = this.#lengthAt(at, this.#refSize);
    return Array.from({ length }, (_, i) => this.#read(this.#ref(refs, i), depth));
  }

  #dict(at: number, depth: number): PlistValue {
    const [length, refs] = this.#lengthAt(at, 2 * this.#refSize);
    const dict = Object.create(null) as Record<string, PlistValue>;
    for (let i = 0; i < length; i++) {
      const key = this.#read(this.#ref(refs, i), depth);
      if (typeof key !== "string") return stop("has a key that is not a text");
      addMember(dict, key, this.#read(this.#ref(refs, length + i), depth));
    }
    return dict;
  }

  #ref(refs: number, i: number): number {
    return this.#bytes.readUIntBE(refs + i * this.#refSize, this.#refSize);
  }

  /** The length of an object and where its content begins; all of it lies before the table. */
  #lengthAt(at: number, unit: number): [length: number, content: number] {
    const low = this.#bytes[at]! & 0x0f;
    if (low < 0x0f) return this.#inside(low, at + 1, unit);
    // A longer length is an integer object of its own.
    const marker = this.#bytes[at + 1]!;
    if (marker >> 4 !== 1 || (marker & 0x0f) > 3) return damaged();
    const size = 1 << (marker & 0x0f);
    const length = this.#unsigned(at + 2, size);
    if (length > BigInt(this.#bytes.length)) return damaged();
    return this.#inside(Number(length), at + 2 + size, unit);
  }

  #inside(length: number, content: number, unit: number): [number, number] {
    return content + length * unit > this.#end ? damaged() : [length, content];
  }

  #unsigned(at: number, size: number): bigint {
    return BigInt(`0x${this.#slice(at, size).toString("hex")}`);
  }

  #slice(at: number, length: number): Buffer {
    return at + length > this.#end ? damaged() : this.#bytes.subarray(at, at + length);
  }

  #simpleAt(at: number, type: number): Simple {
    const low = this.#bytes[at]! & 0x0f;
    switch (type) {
      case 0x0:
        if (low === 8 || low === 9) return { value: low === 9, bytes: 1 };
        return stop("has a value without a form in XML");
      case 0x1: {
        if (low > 4) return damaged();
        const size = 1 << low;
        const value = this.#unsigned(at + 1, size);
        // Only the long forms have a sign.
        return { value: integer(size >= 8 ? BigInt.asIntN(size * 8, value) : value), bytes: size };
      }
      case 0x2:
        if (low === 2) return { value: this.#slice(at + 1, 4).readFloatBE(), bytes: 4 };
        return low === 3 ? { value: this.#slice(at + 1, 8).readDoubleBE(), bytes: 8 } : damaged();
      case 0x3: {
        if (low !== 3) return damaged();
        const value = new Date((this.#slice(at + 1, 8).readDoubleBE() + EPOCH) * 1000);
        return Number.isNaN(value.getTime()) ? stop("has a date that is not one") : { value, bytes: 8 };
      }
      case 0x4: {
        const [length, content] = this.#lengthAt(at, 1);
        return { value: this.#slice(content, length), bytes: length };
      }
      case 0x5: {
        const [length, content] = this.#lengthAt(at, 1);
        const text = this.#slice(content, length);
        if (text.some((byte) => byte > 0x7f)) return damaged();
        return { value: writable(text.toString("latin1")), bytes: length };
      }
      case 0x6: {
        const [length, content] = this.#lengthAt(at, 2);
        const text = Buffer.from(this.#slice(content, 2 * length))
          .swap16()
          .toString("utf16le");
        return { value: writable(text), bytes: 2 * length };
      }
      case 0x8: {
        // CoreFoundation writes UIDs in XML in this form.
        const value: PlistValue = { CF$UID: integer(this.#unsigned(at + 1, low + 1)) };
        return { value, bytes: low + 1 };
      }
      default:
        return stop("has a value without a form in XML");
    }
  }
}

/** Refuses characters that XML or Postgres does not take. */
const writable = (text: string): string => (NOT_XML.test(text) ? stop("has a text without a form in XML") : text);

const damaged = (): never => stop("is damaged");

function stop(reason: string): never {
  throw new BadPlist(`the property list ${reason}`);
}
