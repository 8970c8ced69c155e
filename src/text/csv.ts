/**
 * Formats rows as CSV (RFC 4180). Users and hosts choose their own names, so a cell that a spreadsheet would read as
 * a formula is prefixed with an apostrophe, and a cell with a bare CR is quoted because some readers start a new row
 * there.
 *
 * The output is identical to that of `csv-stringify` with `escape_formulas`, which needs about ten times the CPU per
 * cell: too much for reports of 100,000 hosts. A property test compares the two.
 */
export function csvText(rows: readonly (readonly unknown[])[], end: "\r\n" | "\n" = "\r\n"): string {
  let text = "";
  for (const row of rows) {
    for (let i = 0; i < row.length; i++) {
      const value = row[i];
      if (i > 0) text += ",";
      text += typeof value === "string" ? cellOf(value) : cellOfOther(value);
    }
    text += end;
  }
  return text;
}

/** Some spreadsheets also read the full-width forms of `=`, `+`, `-` and `@` as formulas. */
const LEADS_A_FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
const NEEDS_QUOTES = /[",\r\n]/;
/** Either of them: most cells are neither, and one test is faster than two. */
const IS_SPECIAL = new RegExp(`${LEADS_A_FORMULA.source}|${NEEDS_QUOTES.source}`);

function cellOf(value: string): string {
  if (!IS_SPECIAL.test(value)) return value;
  const safe = LEADS_A_FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function cellOfOther(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return cellOf(JSON.stringify(value));
  return String(value);
}
