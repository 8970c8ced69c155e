import { loadSqlSyntax } from "../../../sql/syntax.ts";
import { startedPart } from "../core/running.ts";

/** Loads SQLite before the first request, so that checks of SQL need not wait. */
export const sqlSyntax = startedPart("SQL syntax", async () => {
  await loadSqlSyntax();
  return { stop: async () => {} };
});
