// Whether the SQL of a query can be parsed at all. The text is only parsed, never resolved or run: hosts have tables,
// columns, functions and extensions that nobody else knows, and a statement that would expand without end is harmless.
import type { Database } from "sql.js";
import { messageOf } from "../text/error-message.ts";
import { type SqlToken, sqlTokens } from "./tokens.ts";

/** SQLite's messages about texts that no version of it can parse. All others depend on what a host has. */
const BROKEN =
  /^(?:near ".*": syntax error|incomplete input|unrecognized token: .*|(?:ORDER BY|LIMIT) clause should come .*|a JOIN clause is required before .*|unknown join type: .*|all VALUES must have the same number of terms)$/s;

/** More statements are not looked at, because each takes time. */
const STATEMENTS_MAX = 50;

/** Statements that are no queries. Agents decide what they do with them. */
const OTHER_STATEMENTS: ReadonlySet<string> = new Set([
  ...["alter", "analyze", "attach", "begin", "commit", "create", "delete", "detach", "drop", "end", "insert", "pragma"],
  ...["reindex", "release", "replace", "rollback", "savepoint", "update", "vacuum"],
]);
/** Words of an EXPLAIN before its statement. */
const EXPLAINS: ReadonlySet<string> = new Set(["explain", "query", "plan"]);

type OpenDatabase = () => Database;

/** SQLite as WebAssembly, which is a pure library: servers in one process share the code. */
let open: OpenDatabase | undefined;
let database: Database | undefined;

/** Loads SQLite, which `sqlProblem` needs. */
export async function loadSqlSyntax(): Promise<void> {
  if (open !== undefined) return;
  const { default: loadSqlite } = await import("sql.js");
  const { Database: Opened } = await loadSqlite();
  open ??= () => new Opened();
}

/** Why the text is not SQL, as a sentence for its author; null if it is, or if it is blank. */
export function sqlProblem(sql: string): string | null {
  const nul = sql.indexOf("\0");
  if (nul !== -1)
    return `the SQL is not valid${lineAndColumn(sql, nul)}: it contains a NUL character. Remove it and try again.`;
  if (sql.trim() !== "" && !hasStatement(sql))
    return "the SQL has no statement, only comments or semicolons. Correct it and try again.";
  for (const statement of statementsOf(sql)) {
    const message = problemOf(statement.text);
    if (message !== null)
      return `the SQL is not valid${placeOf(sql, statement, message)}: ${message}. Correct it and try again.`;
  }
  return null;
}

function hasStatement(sql: string): boolean {
  for (const token of sqlTokens(sql)) {
    const isEnd = token.kind === "symbol" && token.text === ";";
    if (!isEnd && !EXPLAINS.has(wordOf(token))) return true;
  }
  return false;
}

interface Statement {
  readonly text: string;
  readonly tokens: readonly SqlToken[];
}

/** Without EXPLAIN, comments at the beginning, and statements that are no queries. */
function* statementsOf(sql: string): Generator<Statement> {
  let tokens: SqlToken[] = [];
  let count = 0;
  const statement = (): Statement | null => {
    const words = tokens;
    tokens = [];
    let first = 0;
    if (wordOf(words[0]) === "explain") while (EXPLAINS.has(wordOf(words[first]))) first++;
    const [begin, end] = [words[first], words.at(-1)];
    if (!begin || !end || OTHER_STATEMENTS.has(wordOf(begin))) return null;
    return { text: sql.slice(begin.start, end.end), tokens: words.slice(first) };
  };
  for (const token of sqlTokens(sql)) {
    if (token.kind !== "symbol" || token.text !== ";") {
      tokens.push(token);
      continue;
    }
    const next = statement();
    if (next === null) continue;
    yield next;
    if (++count === STATEMENTS_MAX) return;
  }
  const last = statement();
  if (last !== null) yield last;
}

const wordOf = (token: SqlToken | undefined): string => (token?.kind === "name" ? token.text.toLowerCase() : "");

/** A view is stored without looking up what it selects from. */
function problemOf(statement: string): string | null {
  if (open === undefined) throw new Error("SQLite is not loaded: call loadSqlSyntax first");
  database ??= open();
  try {
    database.prepare(`CREATE TEMP VIEW checked AS ${statement}`).free();
    return null;
  } catch (error) {
    const message = messageOf(error);
    // WebAssembly itself has failed: this database is not used again.
    if (error instanceof Error && error.name === "RuntimeError") database = undefined;
    if (!BROKEN.test(message)) return null;
    // WITH may begin a statement that is no query.
    const isOther = /^near "(?:insert|update|delete|replace)": /i.test(message) && /^with\b/i.test(statement);
    return isOther ? null : message;
  }
}

/** In longer statements, the place of an error is not searched. */
const TOKENS_MAX = 20_000;

/** Where SQLite stops: at the last token of the shortest beginning that has the same mistake. */
function placeOf(sql: string, { text, tokens }: Statement, message: string): string {
  const [{ start }, { end }] = [tokens[0]!, tokens.at(-1)!];
  if (message === "incomplete input") return lineAndColumn(sql, end);
  if (tokens.length > TOKENS_MAX) return "";
  const hasMistake = (token: SqlToken) => problemOf(text.slice(0, token.end - start)) === message;
  let [first, last] = [0, tokens.length - 1];
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (hasMistake(tokens[middle]!)) last = middle;
    else first = middle + 1;
  }
  return hasMistake(tokens[first]!) ? lineAndColumn(sql, tokens[first]!.start) : "";
}

/** Line and column, which count from 1; columns count characters. */
function lineAndColumn(sql: string, position: number): string {
  const lines = sql.slice(0, position).split("\n");
  const column = [...lines.at(-1)!].length + 1;
  return sql.includes("\n") ? ` in line ${lines.length}, column ${column}` : ` at column ${column}`;
}
