import { stringify } from "csv-stringify/sync";

/**
 * Rows as CSV (RFC 4180). People and hosts name themselves: a cell that a spreadsheet would take for a formula gets an apostrophe before it, and
 * one with a bare CR, after which a cell would begin there, is quoted.
 */
export const csvText = (rows: readonly (readonly unknown[])[], end: "\r\n" | "\n" = "\r\n"): string =>
  stringify(
    rows.map((row) => [...row]),
    { escape_formulas: true, cast: { boolean: String }, record_delimiter: end, quoted_match: /[\r\n]/ },
  );
