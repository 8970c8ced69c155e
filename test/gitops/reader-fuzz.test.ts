// The reader reports problems of arbitrary files: it never crashes, and accepted files can be compared with a server.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { fileSchema } from "../../src/gitops/files/json-schema.ts";
import { topLevelKeys } from "../../src/gitops/files/scope.ts";
import { amount } from "../support/engines.ts";
import { asYaml, errorsOf, readGiven, stateWith } from "../support/gitops-files.ts";

type Node = { readonly [key: string]: unknown };

/** All keys that have a meaning somewhere. */
function keysIn(node: unknown, found = new Set<string>(topLevelKeys)): Set<string> {
  if (Array.isArray(node)) for (const one of node) keysIn(one, found);
  else if (typeof node === "object" && node !== null)
    for (const [key, value] of Object.entries(node as Node)) {
      if (key === "properties") for (const name of Object.keys(value as Node)) found.add(name);
      keysIn(value, found);
    }
  return found;
}

const keys = [
  ...keysIn(fileSchema()),
  "apiVersion",
  "kind",
  "spec",
  "team",
  "path",
  "paths",
  "__proto__",
  "constructor",
  "",
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e300,
    "",
    " ",
    "No team",
    "********",
    "x",
    "*.yml",
    "f.yml",
    "2026-01-01",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...keys), tie("value")), { maxLength: 6 }).map((entries) => new Map(entries)),
  ),
})).value;

/** Maps preserve keys that have a special meaning in objects. */
function asJson(value: unknown): string {
  if (value instanceof Map) return `{${[...value].map(([key, one]) => `${asYaml(key)}: ${asJson(one)}`).join(", ")}}`;
  if (Array.isArray(value)) return `[${value.map(asJson).join(", ")}]`;
  return asYaml(value);
}

const lists = ["policies", "reports", "labels"];
const objects = ["org_settings", "settings", "controls", "agent_options"];
/** Sections that are complete, so that some files are accepted, or that contain anything. */
const sections = fc.uniqueArray(
  fc.oneof(
    { arbitrary: fc.constantFrom(...lists.map((name): [string, unknown] => [name, []])), weight: 2 },
    { arbitrary: fc.constantFrom(...objects.map((name): [string, unknown] => [name, new Map()])), weight: 2 },
    { arbitrary: fc.tuple(fc.constantFrom(...lists, ...objects), anything), weight: 3 },
  ),
  { maxLength: 5, selector: ([name]) => name },
);
const aDocument = fc.uniqueArray(fc.tuple(fc.constantFrom("spec", "kind", ...lists, ...objects), anything), {
  maxLength: 5,
  selector: ([name]) => name,
});
const textOf = (entries: readonly (readonly [string, unknown])[]) =>
  entries.map(([name, one]) => `${name}: ${asJson(one)}\n`).join("");
const aFile = fc.oneof(
  sections.map((entries) =>
    textOf([["org_settings", new Map()], ...entries.filter(([name]) => name !== "org_settings")]),
  ),
  sections.map((entries) => textOf([["name", "T"], ...entries])),
  aDocument.map((entries) => textOf([["apiVersion", "v1"], ...entries])),
);

describe("the reader", () => {
  it("reports problems of arbitrary files, and never crashes", async () => {
    let through = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(aFile, { minLength: 1, maxLength: 2 }),
        fc.boolean(),
        async (texts, allowUnknownKeys) => {
          const files = Object.fromEntries(texts.map((text, i) => [`f${i}.yml`, text]));
          const read = await readGiven(files, { allowUnknownKeys });
          for (const { file, line, column } of read.problems.all) {
            expect(Object.keys(files)).toContain(file);
            expect(line).toBeGreaterThan(0);
            expect(column).toBeGreaterThan(0);
          }
          if (read.problems.failed) return;
          through++;
          const { things } = desiredOf(read, stateWith());
          expect(JSON.parse(JSON.stringify(things))).toEqual(things);
        },
      ),
      { numRuns: amount(150, 300) },
    );
    expect(through).toBeGreaterThan(0);
  });

  it("is not confused by keys with a meaning in JavaScript", async () => {
    const { problems } = await readGiven({
      "d.yml": "org_settings: {__proto__: {org_info: {org_name: x}}, constructor: 1}\ncontrols: {toString: 1}\n",
    });
    expect(errorsOf(problems)).toEqual([
      expect.stringContaining("unknown key org_settings.__proto__"),
      expect.stringContaining("unknown key org_settings.constructor"),
      expect.stringContaining("unknown key controls.toString"),
    ]);
  });
});
