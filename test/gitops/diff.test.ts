// The differences between two states and their rendering: every difference once, nothing else, and never a secret.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diff } from "../../src/gitops/plan/changes.ts";
import type { Change, Thing } from "../../src/gitops/plan/diff.ts";
import { planJson, renderMarkdown, renderPlan } from "../../src/gitops/plan/render.ts";
import { differences, isSame, type Json } from "../../src/text/differences.ts";

const policy = (name: string, value: Record<string, Json>, owner: string | null = null): Thing => ({
  kind: "policy",
  owner,
  name,
  value,
});
const all = () => true;

/** Applies the changes to the old value, as a reader of the plan would. */
function applied(old: Json, fields: ReturnType<typeof differences>): unknown {
  let result: unknown = structuredClone(old);
  for (const { path, new: wanted } of fields) {
    if (path === "") {
      result = wanted;
      continue;
    }
    const keys = path.split(".");
    const last = keys.pop()!;
    const at = keys.reduce<Record<string, unknown>>(
      (value, key) => value[key] as Record<string, unknown>,
      result as Record<string, unknown>,
    );
    if (wanted === undefined) delete at[last];
    else at[last] = wanted;
  }
  return result;
}

const key = fc.stringMatching(/^[a-z]{1,3}$/);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

describe("differences", () => {
  it("turn one value into the other, and are empty for equal values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const fields = differences(a, b);
        expect(isSame(applied(a, fields) as Json, b)).toBe(true);
        expect(fields.length === 0).toBe(isSame(a, b));
        expect(new Set(fields.map(({ path }) => path)).size).toBe(fields.length);
      }),
      { numRuns: 500 },
    );
  });

  it("name exactly the field that was changed", () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.oneof(fc.integer(), fc.string()), { minKeys: 1, noNullPrototype: true }),
        fc.nat(),
        (value, pick) => {
          const keys = Object.keys(value);
          const name = keys[pick % keys.length]!;
          const changed = { ...value, [name]: "changed to this" };
          expect(differences(value, changed)).toEqual([{ path: name, old: value[name], new: "changed to this" }]);
        },
      ),
    );
  });

  it("show of a secret only that it changed", () => {
    const old = { url: "a", password: { $secret: "kept" } };
    expect(differences(old, { url: "a", password: { $secret: "kept" } })).toEqual([]);
    expect(differences(old, { url: "b", password: { $secret: "given-1" } })).toEqual([
      { path: "url", old: "a", new: "b" },
      { path: "password", isSecret: true },
    ]);
    expect(differences({}, { password: { $secret: "x" } })).toEqual([{ path: "password", isSecret: true }]);
  });
});

describe("a diff", () => {
  it("adds, changes and removes, in the order of dependencies, and skips objects that the files do not own", () => {
    const current = [
      policy("a", { query: "1" }),
      policy("b", { query: "1" }),
      policy("c", { query: "1" }, "Ops"),
      policy("d", {}, "Other"),
    ];
    const desired = [
      policy("b", { query: "2" }),
      policy("e", { query: "1" }),
      { kind: "label", owner: null, name: "L", value: {} } as Thing,
    ];
    const changes = diff(current, desired, ({ owner }) => owner !== "Other");
    expect(changes.map(({ action, kind, owner, name }) => [action, kind, owner, name])).toEqual([
      ["create", "label", null, "L"],
      ["delete", "policy", null, "a"],
      ["update", "policy", null, "b"],
      ["create", "policy", null, "e"],
      ["delete", "policy", "Ops", "c"],
    ]);
    expect(diff(desired, [...desired].reverse(), all)).toEqual([]);
  });
});

describe("enroll secrets", () => {
  const secrets = (...refs: string[]): Thing => ({
    kind: "enroll_secrets",
    owner: null,
    name: "enroll_secrets",
    value: { secrets: refs.map(($secret) => ({ $secret })) },
  });

  it("are equal in any order, and differ by their values", () => {
    expect(diff([secrets("a", "b")], [secrets("b", "a")], all)).toEqual([]);
    expect(diff([secrets("a", "b")], [secrets("a", "c")], all)[0]!.fields).toEqual([
      { path: "secrets", isSecret: true },
    ]);
    expect(diff([secrets("a", "b")], [secrets("a")], all)[0]!.fields).toEqual([
      { path: "secrets", old: ["(secret)", "(secret)"], new: ["(secret)"] },
    ]);
  });
});

describe("a plan", () => {
  const changes = diff(
    [policy("Disk", { query: "SELECT 1\nFROM a\nWHERE x", critical: false }), policy("old", {}, "No team")],
    [
      policy("Disk", { query: "SELECT 2\nFROM a\nWHERE x", critical: true }),
      { kind: "team", owner: "Ops", name: "Ops", value: {} },
    ],
    all,
  );

  it("is readable on a terminal", () => {
    expect(renderPlan(changes)).toBe(
      [
        '+ team "Ops"',
        '~ policy "Disk"',
        "    query:",
        "      @@ -1,3 +1,3 @@",
        "      -SELECT 1",
        "      +SELECT 2",
        "       FROM a",
        "       WHERE x",
        "    critical: false -> true",
        '- policy "old" (no team)',
        "",
        "Plan: 1 to add, 1 to change, 1 to remove.",
        "",
      ].join("\n"),
    );
    expect(renderPlan([])).toBe("No changes: the server matches the files.\n");
  });

  it("contains the same for programs", () => {
    expect(planJson(changes)).toEqual({
      summary: { add: 1, change: 1, remove: 1 },
      changes: [
        { action: "create", kind: "team", team: "Ops", name: "Ops", value: {} },
        {
          action: "update",
          kind: "policy",
          team: null,
          name: "Disk",
          fields: [
            { path: "query", old: "SELECT 1\nFROM a\nWHERE x", new: "SELECT 2\nFROM a\nWHERE x" },
            { path: "critical", old: false, new: true },
          ],
        },
        { action: "delete", kind: "policy", team: "No team", name: "old" },
      ],
    });
  });

  it("shows deletions first in a pull request, and its content cannot break out of the comment", () => {
    const text = renderMarkdown([...changes, ...diff([policy("`</details>```\n# x", {})], [], all)]);
    expect(text).toMatch(
      /^### svc plan: 1 to add, 1 to change, 2 to remove\n\n\*\*Removes 2:\*\*\n\n- `policy "old" \(no team\)`/,
    );
    const fence = /(`{3,})diff\n/.exec(text)![1]!;
    expect(text.split("\n").filter((line) => line.startsWith(fence))).toHaveLength(2);
  });

  it("shows no secret and cannot control a terminal", () => {
    const secret: Change = {
      action: "update",
      kind: "config",
      owner: null,
      name: "smtp_settings",
      fields: [
        { path: "password", isSecret: true },
        { path: "server", old: "a", new: "\u001b[2J\u202e\u200f\u009b31m" },
      ],
      value: null,
    };
    const text = renderPlan([secret]);
    expect(text).toContain("password: (secret) changed");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: searched for on purpose
    expect(text).not.toMatch(/[\u001b\u009b\u200f\u202e]/);
  });
});
