// Parses a block request from its bytes. The data is decoded in place, because it is too large for a string.

interface BlockBody {
  readonly blockId: unknown;
  readonly sessionId: string;
  readonly requestId: string;
  /** Null: missing, or not padded base64. */
  readonly data: Uint8Array | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const PADDING = 0x3d;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Maximum length (bytes) of names and of values other than the data. */
const SHORT = 4096;
const MEMBERS_MAX = 64;
/** Characters decoded per step; a multiple of four. */
const PIECE = 64 * 1024;

class NotJson extends Error {}

/** Null if it is not a JSON object with flat values. Modifies `body`. */
export function readBlock(body: Buffer): BlockBody | null {
  try {
    const members = membersOf(body);
    const text = (name: string) => {
      const value = members.get(name);
      return typeof value === "string" ? value : "";
    };
    const data = members.get("data");
    return {
      blockId: members.get("block_id"),
      sessionId: text("session_id"),
      requestId: text("request_id"),
      data: data instanceof Span ? decodeInPlace(body, data) : null,
    };
  } catch (error) {
    if (error instanceof NotJson || error instanceof SyntaxError) return null;
    throw error;
  }
}

class Span {
  readonly start: number;
  readonly end: number;
  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
  }
}

function membersOf(body: Buffer): Map<string, unknown> {
  const members = new Map<string, unknown>();
  let at = expect(body, skipSpace(body, 0), OPEN);
  at = skipSpace(body, at);
  if (body[at] !== CLOSE) {
    for (;;) {
      const nameEnd = stringEnd(body, at);
      const name = shortValue(body, at, nameEnd);
      at = skipSpace(body, expect(body, skipSpace(body, nameEnd), COLON));
      const end = body[at] === QUOTE ? stringEnd(body, at) : scalarEnd(body, at);
      if (members.size >= MEMBERS_MAX) throw new NotJson();
      if (name === "data" && body[at] === QUOTE) members.set(name, new Span(at + 1, end - 1));
      else members.set(String(name), shortValue(body, at, end));
      at = skipSpace(body, end);
      if (body[at] === CLOSE) break;
      at = skipSpace(body, expect(body, at, COMMA));
    }
  }
  if (skipSpace(body, at + 1) !== body.length) throw new NotJson();
  return members;
}

function shortValue(body: Buffer, start: number, end: number): unknown {
  if (end - start > SHORT) throw new NotJson();
  return JSON.parse(body.toString("utf8", start, end));
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return at;
}

function expect(body: Buffer, at: number, byte: number): number {
  if (body[at] !== byte) throw new NotJson();
  return at + 1;
}

/** The position after the closing quote of the string that starts at `at`. */
function stringEnd(body: Buffer, at: number): number {
  for (let from = expect(body, at, QUOTE); ; ) {
    const quote = body.indexOf(QUOTE, from);
    if (quote < 0) throw new NotJson();
    let slashes = 0;
    while (body[quote - 1 - slashes] === BACKSLASH && quote - 1 - slashes > at) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** A number, true, false or null; block requests contain no nested values. */
function scalarEnd(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== COMMA && body[at] !== CLOSE && skipSpace(body, at) === at) at++;
  return at;
}

function decodeInPlace(body: Buffer, span: Span): Uint8Array | null {
  const { start } = span;
  const end = withoutEscapes(body, span);
  const length = end - start;
  if (length % 4 !== 0) return null;
  const padding = length === 0 || body[end - 1] !== PADDING ? 0 : body[end - 2] === PADDING ? 2 : 1;
  // Decoded data is shorter than its base64, so writing never overtakes reading.
  let out = start;
  for (let at = start; at < end; at += PIECE)
    out += body.write(body.toString("latin1", at, Math.min(end, at + PIECE)), out, "base64");
  // The decoder skips invalid characters, which makes the output too short.
  return out - start === (length / 4) * 3 - padding ? body.subarray(start, out) : null;
}

/** Removes the backslashes that some JSON writers put before slashes. Returns the new end. */
function withoutEscapes(body: Buffer, { start, end }: Span): number {
  const first = body.subarray(start, end).indexOf(BACKSLASH);
  if (first < 0) return end;
  let out = start + first;
  for (let at = out; at < end; at++) {
    if (body[at] === BACKSLASH && body[at + 1] === SLASH) continue;
    body[out++] = body[at]!;
  }
  return out;
}
