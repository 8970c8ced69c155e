// The content of a simulated carve: a real tar archive with one file, generated in parts and never in memory as a
// whole.
import { createHash } from "node:crypto";
import { Random } from "../random.ts";

const RECORD_BYTES = 512;
const END_BYTES = 2 * RECORD_BYTES;
/** Not a multiple of any block size, so that equal blocks are rare. */
const PATTERN_BYTES = 65_521;

export class TarContent {
  readonly size: number;
  readonly #head: Buffer;
  readonly #fileSize: number;
  readonly #pattern: Buffer;

  /** An archive of about this many bytes, at least an empty tar. */
  constructor(seed: number, path: string, bytes: number) {
    const random = new Random(seed);
    this.#pattern = Buffer.alloc(PATTERN_BYTES);
    for (let i = 0; i < PATTERN_BYTES; i++) this.#pattern[i] = random.int(0, 255);
    this.#fileSize = Math.max(0, Math.floor(bytes) - RECORD_BYTES - END_BYTES);
    this.#head = this.#fileSize === 0 ? Buffer.alloc(0) : header(path, this.#fileSize);
    this.size = this.#head.length + Math.ceil(this.#fileSize / RECORD_BYTES) * RECORD_BYTES + END_BYTES;
  }

  read(start: number, length: number): Buffer {
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, this.size - start)));
    if (start < this.#head.length) this.#head.copy(bytes, 0, start);
    const from = Math.max(start, this.#head.length);
    const end = Math.min(start + bytes.length, this.#head.length + this.#fileSize);
    for (let at = from; at < end; ) {
      const inPattern = (at - this.#head.length) % PATTERN_BYTES;
      const part = Math.min(end - at, PATTERN_BYTES - inPattern);
      this.#pattern.copy(bytes, at - start, inPattern, inPattern + part);
      at += part;
    }
    return bytes;
  }

  sha256(): string {
    const hash = createHash("sha256");
    for (let at = 0; at < this.size; at += PATTERN_BYTES * 16) hash.update(this.read(at, PATTERN_BYTES * 16));
    return hash.digest("hex");
  }
}

/** A POSIX.1-1988 header (ustar). Entries have the names of the agent's temporary copies. */
function header(path: string, size: number): Buffer {
  const head = Buffer.alloc(RECORD_BYTES);
  const put = (text: string, at: number) => head.write(text, at, "latin1");
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  put(path.slice(-99), 0);
  put(octal(0o600, 8) + octal(0, 8) + octal(0, 8), 100);
  // Sizes above 8 GiB would need a binary number, but carves are never that large.
  put(octal(size, 12) + octal(0, 12), 124);
  put("        0", 148);
  put("ustar\0" + "00", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return head;
}
