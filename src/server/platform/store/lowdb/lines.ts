// The line format of journals and snapshots: `<crc32 as 8 hex digits> <json>\n`.
import { crc32 } from "node:zlib";

const NEWLINE = 0x0a;
const PREFIX = 9;

export function encodeLine(json: string): Buffer {
  const size = Buffer.byteLength(json);
  const line = Buffer.allocUnsafe(PREFIX + size + 1);
  line.write(json, PREFIX);
  line[PREFIX + size] = NEWLINE;
  const sum = crc32(line.subarray(PREFIX, PREFIX + size));
  line.write(`${sum.toString(16).padStart(8, "0")} `, 0, "latin1");
  return line;
}

export interface Line {
  /** Byte offsets of this line and of the next one. */
  readonly offset: number;
  readonly end: number;
  /** The JSON value, or null if the line is torn or its checksum is wrong. */
  readonly value: unknown;
  readonly fault: string | null;
}

function decodeLine(bytes: Buffer, offset: number, ended: boolean): Line {
  const end = offset + bytes.length + (ended ? 1 : 0);
  const bad = (fault: string): Line => ({ offset, end, value: null, fault });
  if (!ended) return bad("the line has no end");
  if (bytes.length < PREFIX) return bad("the line is too short");
  const body = bytes.subarray(PREFIX);
  const sum = bytes.toString("latin1", 0, PREFIX);
  if (sum !== `${crc32(body).toString(16).padStart(8, "0")} `) return bad("the checksum does not match");
  return { offset, end, value: JSON.parse(body.toString("utf8")), fault: null };
}

/** Yields the lines of a file in order, including damaged ones. Only one line is in memory at a time. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let kept: Buffer[] = [];
  let offset = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, at);
      const line = decodeLine(kept.length === 0 ? part : Buffer.concat([...kept, part]), offset, true);
      kept = [];
      start = at + 1;
      offset = line.end;
      yield line;
    }
    if (start < chunk.length) kept.push(chunk.subarray(start));
  }
  if (kept.length > 0) yield decodeLine(Buffer.concat(kept), offset, false);
}
