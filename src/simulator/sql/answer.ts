import type { Query } from "./ast.ts";
import { execute, type SqlRow, type Tables } from "./execute.ts";
import { parseQuery } from "./parse.ts";
import { SqlError } from "./tokens.ts";
import { UnsupportedSql } from "./values.ts";

export type TextRow = Record<string, string>;
export type SqlAnswer = { status: number; message: string; rows: TextRow[] };

const MAX_CACHED_QUERIES = 4096;
/** SQL that the evaluator does not support: such a query gets one dummy row instead of a false error. */
const UNSUPPORTED =
  /^\s*(WITH|VALUES|PRAGMA|EXPLAIN)\b|\b(OVER|EXCEPT|INTERSECT|WINDOW|NATURAL|REGEXP|MATCH|RECURSIVE|NOTNULL)\b/i;

const parsed = new Map<string, Query | SqlError>();

/** Thrown by a table provider for a table that the agent knows but the simulator has no rows for. */
export class NoModel extends Error {}

/** The agent's result for one query: rows of text, or an SQLite status with its message. */
export function answerSql(sql: string, tables: Tables): SqlAnswer {
  try {
    return { status: 0, message: "", rows: execute(parse(sql), tables).map(textRow) };
  } catch (error) {
    if (error instanceof NoModel || error instanceof UnsupportedSql) return dummy();
    if (!(error instanceof SqlError)) throw error;
    return UNSUPPORTED.test(sql) ? dummy() : { status: 1, message: error.message, rows: [] };
  }
}

/** Many agents run the same few queries, so each is parsed only once. */
function parse(sql: string): Query {
  let query = parsed.get(sql);
  if (query === undefined) {
    query = tryParse(sql);
    if (parsed.size >= MAX_CACHED_QUERIES) parsed.clear();
    parsed.set(sql, query);
  }
  if (query instanceof SqlError) throw query;
  return query;
}

function tryParse(sql: string): Query | SqlError {
  try {
    return parseQuery(sql);
  } catch (error) {
    if (error instanceof SqlError) return error;
    throw error;
  }
}

function dummy(): SqlAnswer {
  return { status: 0, message: "", rows: [{ "1": "1" }] };
}

/** Agents send every value as text, and NULL as an empty text. */
export function textRow(row: SqlRow): TextRow {
  const text: TextRow = {};
  for (const key in row) {
    const value = row[key];
    text[key] = value === null || value === undefined ? "" : String(value);
  }
  return text;
}
