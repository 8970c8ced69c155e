// The server's CSV output compared with that of a library for the same rows.
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvText } from "../../src/text/csv.ts";

const special = fc.constantFrom('"', ",", "\r", "\n", "=", "+", "-", "@", "\t", "'", "＝", "＋", "－", "＠", " ", "a");
const text = fc.oneof(
  fc.string(),
  fc.array(special, { maxLength: 6 }).map((parts) => parts.join("")),
);
const cell = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.record({ name: text }),
);
const rows = fc
  .integer({ min: 1, max: 5 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 5 }));

describe("CSV", () => {
  it("equals the output of csv-stringify for any cells", () => {
    fc.assert(
      fc.property(rows, fc.constantFrom("\r\n" as const, "\n" as const), (table, end) => {
        const expected = stringify(
          table.map((row) => [...row]),
          { escape_formulas: true, cast: { boolean: String }, record_delimiter: end, quoted_match: /[\r\n]/ },
        );
        expect(csvText(table, end)).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it("escapes formulas, also in full-width signs, but not negative numbers", () => {
    expect(csvText([["=1", "＝1", "-a", -1, "a-b", "\tx"]])).toBe("'=1,'＝1,'-a,-1,a-b,'\tx\r\n");
  });

  it("quotes cells with quotes, commas and line breaks of any kind", () => {
    expect(csvText([['say "hi"', "a,b", "a\rb", "a\nb", ""]])).toBe('"say ""hi""","a,b","a\rb","a\nb",\r\n');
  });
});
