// Locates parts of a JSON text without parsing them. Log lines are forwarded unchanged (JSON.parse would round 64-bit
// numbers), and large results are parsed in parts.

export class BadJson extends Error {}

export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

function skipSpace(text: string, at: number): number {
  let i = at;
  while (isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** The end of the string that starts at `at`. */
function stringEnd(text: string, at: number): number {
  let i = at + 1;
  for (;;) {
    const quote = text.indexOf('"', i);
    if (quote < 0) throw new BadJson("a string does not end");
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    i = quote + 1;
  }
}

/** The end of the value that starts at `at`. Only brackets and strings are checked; the content may be invalid JSON. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    let i = at;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || isSpace(code)) break;
    }
    if (i === at) throw new BadJson("a value is missing");
    return i;
  }
  let depth = 0;
  for (let i = at; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = stringEnd(text, i);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return i + 1;
    i++;
  }
  throw new BadJson("a value does not end");
}

/** Iterates over the elements of the array that starts at `at`. */
export class Elements {
  readonly #text: string;
  #at: number;
  start = 0;
  /** Exclusive. */
  end = 0;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = skipSpace(text, at + 1);
    if (text.charCodeAt(this.#at) === CLOSE_ARRAY) this.#at = -1;
  }

  /** Moves to the next element; false at the end. */
  next(): boolean {
    if (this.#at < 0) return false;
    this.start = this.#at;
    this.end = valueEnd(this.#text, this.start);
    const after = skipSpace(this.#text, this.end);
    const code = this.#text.charCodeAt(after);
    if (code === CLOSE_ARRAY) this.#at = -1;
    else if (code === COMMA) this.#at = skipSpace(this.#text, after + 1);
    else throw new BadJson("an array does not end");
    return true;
  }
}

/** More than any agent sends. Further members are ignored, which limits the memory a hostile body can take. */
const MEMBERS_MAX = 20_000;

/** The members of the object that starts at `at`, by name. Of a repeated name the last is used, as in JSON.parse. */
export function objectMembers(text: string, at = skipSpace(text, 0)): Map<string, Span> {
  if (text.charCodeAt(at) !== OPEN_OBJECT) throw new BadJson("not an object");
  const members = new Map<string, Span>();
  let i = skipSpace(text, at + 1);
  if (text.charCodeAt(i) === CLOSE_OBJECT) return members;
  for (;;) {
    if (text.charCodeAt(i) !== QUOTE) throw new BadJson("a name is missing");
    const nameEnd = stringEnd(text, i);
    const plain = text.slice(i + 1, nameEnd - 1);
    const name = plain.includes("\\") ? parseSpan(text, { start: i, end: nameEnd }) : plain;
    i = skipSpace(text, nameEnd);
    if (text.charCodeAt(i) !== COLON) throw new BadJson("a colon is missing");
    i = skipSpace(text, i + 1);
    const end = valueEnd(text, i);
    if (typeof name === "string" && (members.size < MEMBERS_MAX || members.has(name)))
      members.set(name, { start: i, end });
    i = skipSpace(text, end);
    const code = text.charCodeAt(i);
    if (code === CLOSE_OBJECT) return members;
    if (code !== COMMA) throw new BadJson("an object does not end");
    i = skipSpace(text, i + 1);
  }
}

export const isArrayAt = (text: string, { start }: Span): boolean => text.charCodeAt(start) === OPEN_ARRAY;
export const isObjectAt = (text: string, { start }: Span): boolean => text.charCodeAt(start) === OPEN_OBJECT;

export function parseSpan(text: string, { start, end }: Span): unknown {
  try {
    return JSON.parse(text.slice(start, end));
  } catch {
    throw new BadJson("not JSON");
  }
}

/** Whether a parsed number may have lost precision, as 64-bit integers do. */
const isWide = (value: unknown): boolean =>
  typeof value === "number" && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value));

/** Whether a cell of the row is such a number. */
export const isWideRow = (row: unknown): boolean =>
  typeof row === "object" && row !== null && Object.values(row).some(isWide);

const NUMBER = /[-+.\deE]+/y;

/** Parses JSON, with such numbers as text of their original digits. */
export function parseExactly(text: string, { start, end }: Span): unknown {
  let exact = "";
  let from = start;
  for (let i = start; i < end; ) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = stringEnd(text, i);
      continue;
    }
    if (code !== MINUS && (code < ZERO || code > NINE)) {
      i++;
      continue;
    }
    NUMBER.lastIndex = i;
    const number = NUMBER.exec(text)?.[0] ?? "";
    if (isWide(Number(number))) {
      exact += `${text.slice(from, i)}"${number}"`;
      from = i + number.length;
    }
    i += number.length;
  }
  exact += text.slice(from, end);
  return parseSpan(exact, { start: 0, end: exact.length });
}
