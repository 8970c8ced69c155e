// Splits SQL into tokens like SQLite's tokenizer (https://www.sqlite.org/src/file/src/tokenize.c), to check which
// names a query uses. It handles all four kinds of quotes, comments and blobs; numbers and operators are not
// distinguished further.

export interface SqlToken {
  /**
   * `name`: an identifier or keyword, bare or quoted. `open`: an unclosed quote or bracket with everything after it.
   */
  readonly kind: "name" | "string" | "variable" | "number" | "symbol" | "open";
  /** For names and strings, the value: without quotes, and with doubled quotes reduced to one. */
  readonly text: string;
  /** Position of the first character, and of the first character after the token. */
  readonly start: number;
  readonly end: number;
}

/** Characters of identifiers: letters, digits, `_`, `$`, and everything beyond ASCII. */
const ID = "A-Za-z0-9_$\\u0080-\\uffff";
/** At the start of a token, a byte order mark counts as white space. */
const SPACE = /[ \t\n\f\r\ufeff]+|--[^\n]*|\/\*(?=.).*?(?:\*\/|$)/sy;
const NAME = new RegExp(`[A-Za-z_\\u0080-\\uffff][${ID}]*`, "y");
const VARIABLE = new RegExp(`[$@#:][${ID}:]+|\\?[0-9]*`, "y");
const NUMBER = new RegExp(`[0-9][${ID}]*`, "y");
const BLOB = /[xX]'[^']*'/y;

const CLOSING: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "[": "]" };

/** Comments and white space are skipped. */
export function* sqlTokens(sql: string): Generator<SqlToken, void> {
  const match = (pattern: RegExp, at: number): number => {
    pattern.lastIndex = at;
    return pattern.test(sql) ? pattern.lastIndex : -1;
  };
  for (let at = 0; at < sql.length; ) {
    const blank = match(SPACE, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    const token = quotedToken(sql, at) ?? bare(sql, at, match);
    yield token;
    at = token.end;
  }
}

function bare(sql: string, start: number, match: (pattern: RegExp, at: number) => number): SqlToken {
  for (const [kind, pattern] of [
    ["string", BLOB],
    ["name", NAME],
    ["number", NUMBER],
    ["variable", VARIABLE],
  ] as const) {
    const end = match(pattern, start);
    if (end > start) return { kind, text: sql.slice(start, end), start, end };
  }
  return { kind: "symbol", text: sql[start]!, start, end: start + 1 };
}

function quotedToken(sql: string, start: number): SqlToken | null {
  const mark = sql[start]!;
  const closing = CLOSING[mark];
  if (closing === undefined) return null;
  let text = "";
  for (let from = start + 1; ; ) {
    const to = sql.indexOf(closing, from);
    if (to < 0) return { kind: "open", text: sql.slice(start), start, end: sql.length };
    text += sql.slice(from, to);
    // A doubled quote represents a single one; brackets have no such escape.
    if (mark === "[" || sql[to + 1] !== closing)
      return { kind: mark === "'" ? "string" : "name", text, start, end: to + 1 };
    text += closing;
    from = to + 2;
  }
}
