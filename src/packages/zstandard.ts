// How much a Zstandard file contains at most, read from its headers without unpacking it (RFC 8878, section 3.1.1).
import { damaged } from "./package.ts";

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
/** A block is never larger. */
const BLOCK_MAX = 128 * 1024;
const dictionarySizes = [0, 1, 2, 4] as const;
const RAW = 0;
const REPEATED = 1;
const RESERVED = 3;

interface ZstandardContent {
  /** Bytes of the content, or more. */
  readonly size: number;
  readonly blocks: number;
}

/** Throws `PackageError` unless it is one complete frame. Skippable frames may be before and after it. */
export function zstandardContent(bytes: Buffer): ZstandardContent {
  let frameContent: ZstandardContent | null = null;
  for (let at = 0; at < bytes.length; ) {
    const magic = unsigned(bytes, at, 4);
    if ((magic & 0xfffffff0) === SKIPPABLE) {
      at += 8 + unsigned(bytes, at + 4, 4);
      continue;
    }
    if (magic !== MAGIC || frameContent !== null) throw damaged();
    const { content, end } = frame(bytes, at + 4);
    frameContent = content;
    at = end;
  }
  if (frameContent === null) throw damaged();
  return frameContent;
}

function frame(bytes: Buffer, start: number): { readonly content: ZstandardContent; readonly end: number } {
  const flags = unsigned(bytes, start, 1);
  const isSingle = (flags >> 5) & 1;
  const sizeFlag = flags >> 6;
  const sizeBytes = sizeFlag === 0 ? isSingle : 1 << sizeFlag;
  const sizeAt = start + 1 + (1 - isSingle) + dictionarySizes[(flags & 3) as 0 | 1 | 2 | 3];
  const announced =
    sizeBytes === 0 ? Number.POSITIVE_INFINITY : unsigned(bytes, sizeAt, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  let size = 0;
  let blocks = 0;
  for (let at = sizeAt + sizeBytes; ; ) {
    const header = unsigned(bytes, at, 3);
    const type = (header >> 1) & 3;
    const length = header >> 3;
    if (type === RESERVED) throw damaged();
    size += type === RAW || type === REPEATED ? length : BLOCK_MAX;
    blocks++;
    at += 3 + (type === REPEATED ? 1 : length);
    if (at > bytes.length) throw damaged();
    if ((header & 1) === 0) continue;
    const checksum = ((flags >> 2) & 1) * 4;
    return { content: { size: Math.min(size, announced), blocks }, end: at + checksum };
  }
}

/** In little-endian order. */
function unsigned(bytes: Buffer, at: number, length: number): number {
  if (at + length > bytes.length) throw damaged();
  if (length === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, length);
}
