// What a PNG image says of itself (PNG specification, third edition, sections 5 and 11).
import { crc32 } from "node:zlib";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
/** Length, type and checksum of a chunk. */
const CHUNK_OVERHEAD = 12;

interface PngSize {
  readonly width: number;
  readonly height: number;
}

/** The size of a complete image. Null: the bytes are none, or are damaged, or more follows after its end. */
export function pngSize(bytes: Buffer): PngSize | null {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  let size: PngSize | null = null;
  let hasPixels = false;
  for (let at = SIGNATURE.length; at + CHUNK_OVERHEAD <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + CHUNK_OVERHEAD + length;
    if (end > bytes.length) return null;
    if (bytes.readUInt32BE(end - 4) !== crc32(bytes.subarray(at + 4, end - 4))) return null;
    const type = bytes.toString("latin1", at + 4, at + 8);
    if ((type === "IHDR") !== (at === SIGNATURE.length) || (type === "IHDR" && length !== 13)) return null;
    if (type === "IHDR") size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND") return end === bytes.length && hasPixels ? size : null;
    at = end;
  }
  return null;
}
