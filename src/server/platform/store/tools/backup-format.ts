// A backup is a gzip file (RFC 1952) of JSON lines: a head, each table (its columns, one line per row, its state),
// each blob (pieces in base64, its digest), and an end line with the digest of all lines before it. Every line is an
// array whose first element names its type.
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { StoreDamaged } from "../store.ts";

export const FORMAT = "svc-backup";
export const VERSION = 1;
export const PIECE_BYTES = 192 * 1024;

export interface Head {
  readonly created_at: string;
  /** The id of the key that the secrets in the backup are encrypted with. */
  readonly key_id: string;
}

export type Line =
  | readonly ["head", typeof FORMAT, number, Head]
  | readonly ["table", string, readonly string[]]
  | readonly ["row", readonly unknown[]]
  | readonly ["table-end", { rows: number; sha256: string; next_id: number | null }]
  | readonly ["blob", string]
  | readonly ["piece", string]
  | readonly ["blob-end", { size: number; sha256: string }]
  | readonly ["end", { lines: number; sha256: string }];

/** Encodes the lines as bytes and appends the end line. */
export async function* encode(lines: AsyncIterable<Line>): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let count = 0;
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const line of lines) {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    hash.update(bytes);
    count++;
    waiting.push(bytes);
    size += bytes.length;
    if (size < 64 * 1024) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  const end: Line = ["end", { lines: count, sha256: hash.digest("hex") }];
  yield Buffer.concat([...waiting, Buffer.from(`${JSON.stringify(end)}\n`)]);
}

/**
 * Reads the lines of the file. Anything invalid, including a missing end line, throws `StoreDamaged` with the offset
 * in the uncompressed data.
 */
export async function* readLines(file: string): AsyncGenerator<Line> {
  const hash = createHash("sha256");
  let count = 0;
  let offset = 0;
  let ended = false;
  const damaged = (reason: string) => new StoreDamaged(file, offset, reason);
  try {
    for await (const bytes of splitLines(file)) {
      if (ended) throw damaged("unexpected data after the end line");
      const line = parse(bytes);
      if (!line) throw damaged("a line is not valid in a backup");
      if (count === 0 && (line[0] !== "head" || line[1] !== FORMAT)) throw damaged("it is not an svc backup");
      if (line[0] === "end") {
        checkEnd(line[1], count, hash, damaged);
        ended = true;
      } else {
        hash.update(bytes).update("\n");
        count++;
        yield line;
      }
      offset += bytes.length + 1;
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_")) throw damaged(error.message);
    throw error;
  }
  if (!ended) throw damaged("the end line is missing");
}

function checkEnd(
  end: { lines: number; sha256: string },
  count: number,
  hash: Hash,
  damaged: (reason: string) => Error,
): void {
  if (end.lines !== count) throw damaged(`it should have ${end.lines} lines and has ${count}`);
  if (end.sha256 !== hash.digest("hex")) throw damaged("the digest does not match");
}

function parse(bytes: Buffer): Line | null {
  try {
    const line: unknown = JSON.parse(bytes.toString("utf8"));
    return Array.isArray(line) && typeof line[0] === "string" ? (line as unknown as Line) : null;
  } catch {
    return null;
  }
}

const NEWLINE = 10;

async function* splitLines(file: string): AsyncGenerator<Buffer> {
  const inflated = createGunzip();
  // Errors of either stream are thrown by the iteration below.
  pipeline(createReadStream(file), inflated, () => undefined);
  let pending: Buffer[] = [];
  for await (const chunk of inflated as AsyncIterable<Buffer>) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, at);
      yield pending.length > 0 ? Buffer.concat([...pending, part]) : part;
      pending = [];
      start = at + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield Buffer.concat(pending);
}
