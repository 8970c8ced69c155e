// Detects SQL that can make a host upload files, through the table `carves` or the function `carve()`.
import { type SqlToken, sqlTokens } from "../../../sql/tokens.ts";

/** After these keywords SQLite accepts a string as a table name. */
const BEFORE_TABLES: ReadonlySet<string> = new Set(["from", "join", "in", "into", "update", "table", "view"]);

/**
 * Whether the SQL can start a carve. Any mention of the table counts, since the column that triggers a carve can be
 * renamed in a subquery. Text that SQLite versions parse differently, or with an unclosed quote, counts if it could.
 */
export function isCarving(sql: string): boolean {
  // Fast path. SQLite has no escapes that spell a name differently, and doubled quotes cannot occur in these names.
  if (!/carve/i.test(sql)) return false;
  let before: SqlToken | undefined;
  let last: SqlToken | undefined;
  for (const token of sqlTokens(sql)) {
    if (last && token.text === "(" && token.kind === "symbol") {
      if (is(last, "carve")) return true;
      // Tcl variables extend to the next bracket and can hide quotes and comments, depending on how SQLite was built.
      if (last.kind === "variable" && last.end === token.start) return true;
    }
    if (is(token, "carves") && (token.kind === "name" || isTable(last, before))) return true;
    if (token.kind === "open") return true;
    before = last;
    last = token;
  }
  return false;
}

const is = ({ kind, text }: SqlToken, name: string): boolean =>
  (kind === "name" || kind === "string") && text.replaceAll("\ufeff", "").toLowerCase() === name;

/** Whether a string after these two tokens can be a table name, and not a compared or listed value. */
function isTable(last: SqlToken | undefined, before: SqlToken | undefined): boolean {
  if (last?.kind === "name") return BEFORE_TABLES.has(last.text.toLowerCase());
  if (last?.text === "(") return before?.kind !== "name" || (isFrom(before) && before.text.toLowerCase() !== "in");
  return last?.text === "," || last?.text === ".";
}

const isFrom = ({ text }: SqlToken): boolean => BEFORE_TABLES.has(text.toLowerCase());
