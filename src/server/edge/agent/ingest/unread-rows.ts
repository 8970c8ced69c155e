// Some results, such as software, make up most of an inventory and rarely change between reports. Their rows stay JSON
// text until needed; comparing the text is enough to detect a change.

import { isRecord } from "../../../../text/record.ts";
import { BadJson, parseSpan } from "../../../platform/agent-protocol/json-scan.ts";
import type { AgentRow, DetailResult } from "../../../platform/agent-protocol/rows.ts";
import { DETAIL_PREFIX, rowsOf } from "../../../platform/agent-protocol/rows.ts";

/** Shorter results are parsed with the rest. */
const LARGE_LENGTH = 2048;
const NAME_START = `"${DETAIL_PREFIX}`;
const UNREAD_MARK = "svc:unread";

/** The rows of a result as JSON text. */
export class UnreadRows {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** A result whose rows are parsed on first use; invalid JSON counts as a failed query. */
  result(maxRows: number): DetailResult {
    let read: readonly AgentRow[] | null | undefined;
    const { text } = this;
    const rows = () => {
      if (read === undefined) read = rowsIn(text)?.slice(0, maxRows) ?? null;
      return read;
    };
    return {
      unread: text,
      maxRows,
      get ok() {
        return rows() !== null;
      },
      get rows() {
        return rows() ?? [];
      },
    };
  }
}

function rowsIn(text: string): readonly AgentRow[] | null {
  try {
    return rowsOf(parseSpan(text, { start: 0, end: text.length }));
  } catch (error) {
    if (error instanceof BadJson) return null;
    throw error;
  }
}

/**
 * Parses a body, leaving large results of the queries for which `mayBeLarge` as `UnreadRows`; null if it does not have the usual layout. The end of
 * each result is guessed. A wrong guess leaves either a rest that is not JSON (null) or text that is not valid rows,
 * since a text that is a complete array can have no other end.
 */
export function parseSparing(body: string, mayBeLarge: (query: string) => boolean): Record<string, unknown> | null {
  const answers = new Map<string, UnreadRows>();
  let rest = "";
  let from = 0;
  for (let at = body.indexOf(NAME_START); at >= 0; at = body.indexOf(NAME_START, Math.max(at + 1, from))) {
    const quote = body.indexOf('"', at + NAME_START.length);
    if (quote < 0 || !body.startsWith(":[{", quote + 1)) continue;
    if (!mayBeLarge(body.slice(at + NAME_START.length, quote))) continue;
    const start = quote + 2;
    const end = guessedEnd(body, start);
    if (end - start < LARGE_LENGTH) continue;
    const name = body.slice(at + 1, quote);
    if (answers.has(name)) return null;
    answers.set(name, new UnreadRows(body.slice(start, end)));
    rest += `${body.slice(from, start)}"${UNREAD_MARK}"`;
    from = end;
  }
  if (answers.size === 0) return null;
  const value = valueIn(rest + body.slice(from));
  const queries = value?.queries;
  if (!value || typeof queries !== "object" || queries === null) return null;
  const byName = queries as Record<string, unknown>;
  for (const [name, rows] of answers) {
    if (byName[name] !== UNREAD_MARK) return null;
    byName[name] = rows;
  }
  return value;
}

const COMMA = 44;
const QUOTE = 34;
const CLOSE = 125;

/** The end of the array of flat objects that starts at `start`: a `}]` followed by another name or the object's end. */
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
    return isRecord(value) ? value : null;
  } catch (error) {
    if (error instanceof BadJson) return null;
    throw error;
  }
}
