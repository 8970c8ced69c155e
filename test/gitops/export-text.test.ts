// The written YAML parses to the same values, whatever texts they contain.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Environment } from "../../src/gitops/environment/variables.ts";
import { Variables, yamlOf } from "../../src/gitops/export/text.ts";
import { Problems, renderProblem } from "../../src/gitops/files/problems.ts";
import { parseTree, plain } from "../../src/gitops/files/tree.ts";
import type { Json } from "../../src/text/differences.ts";

const readBack = (text: string, environment: Record<string, string> = {}) => {
  const problems = new Problems();
  const tree = parseTree(text, "f.yml", { environment: new Environment(environment), problems, variables: new Map() });
  return { value: tree && plain(tree), problems: problems.all.map(renderProblem) };
};
const noSecret = () => {
  throw new Error("there is no secret");
};

/** Texts with the special characters of YAML, variables and lines. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }).map((raw) => raw.toWellFormed()),
  fc
    .array(
      fc.constantFrom(
        "\\",
        "$",
        "$NAME",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the environment
        "${NAME}",
        "$SVC_VAR_X",
        "$SVC_SECRET_X",
        "\n",
        "\r\n",
        "\t",
        " ",
        "#",
        ": ",
        "- ",
        "'",
        '"',
        "|",
        ">",
        "%",
        "&a",
        "*a",
        "!!b",
        "{",
        "]",
        "yes",
        "null",
        "1",
        "0x1f",
        "~",
        "---",
        "...",
        "<<",
        "\u0085",
        "\u2028",
        "é",
        "😀",
        "\u0000",
        "\u001b",
        "SELECT 1",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

describe("exported YAML", () => {
  it("parses to the same value, whatever texts it contains", () => {
    fc.assert(
      fc.property(json, (value) => {
        const written = yamlOf({ value }, noSecret);
        expect(readBack(written), written).toEqual({ value: { value }, problems: [] });
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps blank lines with spaces at the beginning of a text", () => {
    for (const text of [" \n", "\n \n", " \nSELECT 1\n", "\t\n \nx"]) {
      const written = yamlOf({ text, list: [text] }, noSecret);
      expect(readBack(written), written).toEqual({ value: { text, list: [text] }, problems: [] });
    }
  });

  it("writes long texts as blocks, and keeps placeholders that the server fills in", () => {
    expect(yamlOf({ query: "SELECT 1\nFROM a -- $x\n", name: "$SVC_VAR_HOST_UUID", cost: "5$" }, noSecret)).toBe(
      "query: |\n  SELECT 1\n  FROM a -- \\$x\nname: $SVC_VAR_HOST_UUID\ncost: 5$\n",
    );
  });

  it("uses variables for secrets, with any value of one line", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((secret) => !/^\s|[\r\n\u0085\u2028\u2029]/.test(secret)),
        (secret) => {
          const variables = new Variables();
          const written = yamlOf({ secrets: [{ secret: { $secret: "" } }], other: "svcsecret0x0x" }, () =>
            variables.add(["ENROLL_SECRET", "Ops é"], "Ops", "of Ops", "line"),
          );
          expect(variables.all.map(({ name }) => name)).toEqual(["ENROLL_SECRET_OPS_E"]);
          expect(readBack(written, { ENROLL_SECRET_OPS_E: secret })).toEqual({
            value: { secrets: [{ secret }], other: "svcsecret0x0x" },
            problems: [],
          });
        },
      ),
    );
  });

  it("uses variables for keys of several lines, written as in JSON", () => {
    const key = '-----BEGIN KEY-----\n"a\\b"\n-----END KEY-----\n';
    const written = yamlOf({ private_key: { $secret: "" } }, () => new Variables().add(["KEY"], "", "", "json"));
    expect(readBack(written, { KEY: JSON.stringify(key).slice(1, -1) }).value).toEqual({ private_key: key });
  });

  it("gives variables readable, unique and stable names", () => {
    const names = () => {
      const variables = new Variables();
      for (const team of ["Ops", "ops", "部署", "総務", "9 lives"])
        variables.add(["ENROLL_SECRET", team], team, "", "line");
      return variables.all.map(({ name }) => name);
    };
    expect(names()[0]).toBe("ENROLL_SECRET_OPS");
    expect(names()[4]).toBe("ENROLL_SECRET_9_LIVES");
    expect(new Set(names()).size).toBe(5);
    expect(names()).toEqual(names());
    for (const name of names()) expect(name).toMatch(/^[A-Z_][A-Z0-9_]*$/);
  });
});
