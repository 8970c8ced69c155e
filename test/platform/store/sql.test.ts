import { describe, expect, test } from "vitest";
import {
  allOf,
  anyOf,
  col,
  compile,
  list,
  name,
  sql,
  textOf,
} from "../../../src/server/platform/store/postgres/sql.ts";

describe("SQL composed of parts", () => {
  test("has numbered parameters in the order of its text, also those of parts that are used twice", () => {
    const part = sql`${col("t0", "a")} = ${1}`;
    const query = sql`SELECT ${"x"} FROM ${name("t")} WHERE ${allOf([part, sql`b = ${null}`, part])}`;
    expect(compile(query)).toEqual({
      text: 'SELECT $1 FROM "t" WHERE ("t0"."a" = $2 AND b = $3 AND "t0"."a" = $4)',
      values: ["x", 1, null, 1],
    });
  });

  test("quotes identifiers and literals, whatever they contain", () => {
    expect(textOf(sql`${sql.id('a"b', "c.d")}`)).toBe('"a""b"."c.d"');
    expect(textOf(list([sql.lit("it's"), sql.lit(5), sql.lit(null), sql.lit(true)]))).toBe("'it''s', 5, null, true");
  });

  test("has conditions without parts, and text as it is", () => {
    expect([textOf(allOf([])), textOf(anyOf([])), textOf(anyOf([sql`a`])), textOf(sql.raw("now()"))]).toEqual([
      "true",
      "false",
      "a",
      "now()",
    ]);
    expect(textOf(sql`${anyOf([sql`a`, sql`b`])}${sql.join([], ";")}`)).toBe("(a OR b)");
  });
});
