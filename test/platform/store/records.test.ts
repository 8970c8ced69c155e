// Values in the records that Postgres returns for wide rows.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstOfRecord, recordParser } from "../../../src/server/platform/store/postgres/records.ts";
import { id, int, real, text, time } from "../../../src/server/platform/store/table.ts";

const columns = { id: id(), size: int(), load: real(), seen: time(), name: text() };
const parse = recordParser(Object.values(columns).map(({ spec }) => spec));
const row = (size: string, load: string, seen: string, name: string) => `(7,${size},${load},"${seen}",${name})`;
const TIME = "2026-01-01 00:00:00+00";

const decimal = fc
  .tuple(fc.constantFrom("", "-"), fc.bigInt(0n, 10n ** 17n), fc.option(fc.stringMatching(/^[0-9]{1,17}$/)))
  .map(([sign, whole, digits]) => `${sign}${whole}${digits === null ? "" : `.${digits}`}`);
const number = fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));

describe("records of Postgres", () => {
  it("have the numbers that their texts mean, whatever their length and form", () => {
    fc.assert(
      fc.property(number, number, (size, load) => {
        const [, first, second] = parse(row(size, load, TIME, "x"));
        expect([first, second]).toEqual([Number(size), Number(load)]);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["2026-01-02 03:04:05.678+00", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02 03:04:05.67+00", "2026-01-02T03:04:05.670Z"],
    ["2026-01-02 03:04:05+00", "2026-01-02T03:04:05.000Z"],
    ["0001-01-02 03:04:05.678+00 BC", "0000-01-02T03:04:05.678Z"],
    ["0001-01-02 03:04:05+00 BC", "0000-01-02T03:04:05.000Z"],
  ])("have the time %s as %s", (written, expected) => {
    expect(parse(row("1", "1", written, '"a ""b"", \\\\"'))).toEqual([7, 1, 1, expected, 'a "b", \\']);
  });

  it("distinguish null from an empty text, and start with the id", () => {
    expect(parse(`(12,,,"${TIME}",)`).slice(0, 3)).toEqual([12, null, null]);
    expect(parse(`(12,,,"${TIME}",)`)[4]).toBeNull();
    expect(parse(`(12,,,"${TIME}","")`)[4]).toBe("");
    expect(firstOfRecord(`(12,,,"${TIME}","")`)).toBe(12);
  });
});
