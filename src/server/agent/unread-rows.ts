// The large part of an inventory is software, and from one hour to the next it is mostly the same: its rows stay text until somebody
// wants them, and who only wants to know whether they are the same compares the text.
import type { DetailResult, Row } from "./inventory/rows.ts";
import { DETAIL_PREFIX, rowsOf } from "./inventory/rows.ts";
import { BadJson, parseSpan } from "./json-scan.ts";

/** Shorter ones are read with the rest. */
const LARGE = 2048;
const START = `"${DETAIL_PREFIX}software_`;
const MARK = "svc:unread";

/** An answer's rows as JSON. */
export class UnreadRows {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** A result that is read when it is asked for; what turns out to be no JSON counts as a failed query. */
  result(maxRows: number): DetailResult {
    let read: readonly Row[] | null | undefined;
    const { text } = this;
    const rows = () => {
      if (read === undefined) read = rowsIn(text)?.slice(0, maxRows) ?? null;
      return read;
    };
    return {
      unread: text,
      get ok() {
        return rows() !== null;
      },
      get rows() {
        return rows() ?? [];
      },
    };
  }
}

function rowsIn(text: string): readonly Row[] | null {
  try {
    return rowsOf(parseSpan(text, { start: 0, end: text.length }));
  } catch (error) {
    if (error instanceof BadJson) return null;
    throw error;
  }
}

/**
 * A write's body as a value, with `UnreadRows` in the place of large software answers; null where it does not look as agents write it.
 * The end of an answer is guessed. A wrong guess leaves a rest that is no JSON (null), or rows that are none: a text that is a whole
 * array has no other end.
 */
export function parseSparing(body: string): Record<string, unknown> | null {
  const answers = new Map<string, UnreadRows>();
  let rest = "";
  let from = 0;
  for (let at = body.indexOf(START); at >= 0; at = body.indexOf(START, Math.max(at + 1, from))) {
    const quote = body.indexOf('"', at + START.length);
    if (quote < 0 || !body.startsWith(":[{", quote + 1)) continue;
    const start = quote + 2;
    const end = guessedEnd(body, start);
    if (end - start < LARGE) continue;
    const name = body.slice(at + 1, quote);
    if (answers.has(name)) return null;
    answers.set(name, new UnreadRows(body.slice(start, end)));
    rest += `${body.slice(from, start)}"${MARK}"`;
    from = end;
  }
  if (answers.size === 0) return null;
  const value = valueIn(rest + body.slice(from));
  const queries = value?.queries;
  if (!value || typeof queries !== "object" || queries === null) return null;
  const byName = queries as Record<string, unknown>;
  for (const [name, rows] of answers) {
    if (byName[name] !== MARK) return null;
    byName[name] = rows;
  }
  return value;
}

const COMMA = 44;
const QUOTE = 34;
const CLOSE = 125;

/** After the array of flat objects that begins at `start`: where another name or the end of the object follows. */
function guessedEnd(body: string, start: number): number {
  for (let at = body.indexOf("}]", start); at >= 0; at = body.indexOf("}]", at + 1)) {
    const next = body.charCodeAt(at + 2);
    if (next === CLOSE || (next === COMMA && body.charCodeAt(at + 3) === QUOTE)) return at + 2;
  }
  return -1;
}

function valueIn(text: string): Record<string, unknown> | null {
  try {
    const value = parseSpan(text, { start: 0, end: text.length });
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch (error) {
    if (error instanceof BadJson) return null;
    throw error;
  }
}
