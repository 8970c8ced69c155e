// A backup is gzip (RFC 1952) of JSON lines: a head, each table (its columns, a line a row, its state), each blob (base64 in pieces, its digest), and
// an end with the digest of all lines before it. Every line is an array whose first member says what it is.
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
  /** The key that its secrets are sealed with. */
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

/** The lines as bytes, followed by the end line. */
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

/** The file's lines. Whatever cannot be right throws `StoreDamaged` with the offset after inflation; that includes a missing end. */
export async function* readLines(file: string): AsyncGenerator<Line> {
  const hash = createHash("sha256");
  let count = 0;
  let offset = 0;
  let ended = false;
  const damaged = (reason: string) => new StoreDamaged(file, offset, reason);
  try {
    for await (const bytes of splitLines(file)) {
      if (ended) throw damaged("there is more after its end");
      const line = parse(bytes);
      if (!line) throw damaged("a line is not one of a backup");
      if (count === 0 && (line[0] !== "head" || line[1] !== FORMAT)) throw damaged("it is not a backup of svc");
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
  if (!ended) throw damaged("its end is missing");
}

function checkEnd(
  end: { lines: number; sha256: string },
  count: number,
  hash: Hash,
  damaged: (reason: string) => Error,
): void {
  if (end.lines !== count) throw damaged(`it should have ${end.lines} lines and has ${count}`);
  if (end.sha256 !== hash.digest("hex")) throw damaged("its digest is wrong");
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
  // Errors of either stream come out of the iteration.
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
