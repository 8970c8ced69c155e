// Reading the files of configuration as code: substitution, includes, the kind of each file, and the positions of
// problems.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Environment } from "../../src/gitops/environment/variables.ts";
import { newSources } from "../../src/gitops/files/include.ts";
import { Problems, renderProblem } from "../../src/gitops/files/problems.ts";
import { readScopes } from "../../src/gitops/files/scope.ts";
import { placesIn, substitute } from "../../src/gitops/files/substitute.ts";
import { parseTree, placeOf, plain } from "../../src/gitops/files/tree.ts";

const expanded = (text: string, environment: Record<string, string> = {}) => {
  const problems = new Problems();
  const result = substitute(text, "f.yml", new Environment(environment), problems);
  const original = (offset: number) => result.original(offset);
  return { result: result.text, original, problems: problems.all.map(renderProblem) };
};

describe("substitution", () => {
  it.each([
    ["a: $NAME", "a: value"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the environment
    ["a: ${NAME}s", "a: values"],
    ["a: $NAMEs", null],
    ["a: \\$NAME", "a: $NAME"],
    ["a: \\\\$NAME", "a: \\\\value"],
    ["a: \\\\\\$NAME", "a: \\$NAME"],
    ["a: \\\\\\\\\\$NAME", "a: \\\\$NAME"],
    ["a: $SVC_VAR_HOST_UUID", "a: $SVC_VAR_HOST_UUID"],
    ["a: $", "a: $"],
    ["a: $1 $ {} $-x", "a: $1 $ {} $-x"],
    ["# a: $UNSET\nb: 1", "# a: $UNSET\nb: 1"],
    ["# $EMPTY.", "# ."],
  ])("%j becomes %j", (text, result) => {
    const done = expanded(text, { NAME: "value", EMPTY: "" });
    if (result === null) expect(done.problems).toEqual(["f.yml:1:4: the environment variable NAMEs is not set"]);
    else expect(done).toMatchObject({ result, problems: [] });
  });

  it("warns about an empty variable", () => {
    const { result, problems } = expanded("a: $EMPTY.", { EMPTY: "" });
    expect({ result, problems }).toEqual({ result: "a: .", problems: ["f.yml:1:4: $EMPTY is empty"] });
  });

  it("lists all missing variables with their positions, and secrets in places that do not support them", () => {
    expect(expanded("a: $ONE\nb:\n  - x$TWO $ONE\nc: $SVC_SECRET_KEY").problems).toEqual([
      "f.yml:1:4: the environment variable ONE is not set",
      "f.yml:3:6: the environment variable TWO is not set",
      "f.yml:3:11: the environment variable ONE is not set",
      "f.yml:4:4: $SVC_SECRET_KEY can only be used in profiles, scripts and name_template, not elsewhere in the configuration",
    ]);
    // Properties that every object has are not environment variables.
    expect(expanded("$constructor $toString").problems).toHaveLength(2);
  });

  it("maps offsets back to the file", () => {
    const text = "a: $LONG x\nb: $LONG y";
    const { result, original } = expanded(text, { LONG: "1\n2\n3" });
    for (const letter of ["x", "y", "b"]) expect(original(result.indexOf(letter))).toBe(text.indexOf(letter));
    expect(placesIn(text, "f")(original(result.indexOf("2")))).toEqual({ file: "f", line: 1, column: 4 });
  });

  it("changes nothing that is not a reference", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("$")),
        (text) => {
          const { result, original, problems } = expanded(text);
          expect(result).toBe(text);
          expect(problems).toEqual([]);
          for (let at = 0; at < text.length; at++) expect(original(at)).toBe(at);
        },
      ),
    );
  });
});

describe("a tree", () => {
  const tree = (text: string) => {
    const problems = new Problems();
    return {
      tree: parseTree(text, "f.yml", { environment: new Environment({}), problems, variables: new Map() }),
      problems: problems.all.map(renderProblem),
    };
  };

  it("knows the position of each part", () => {
    const { tree: root } = tree("a:\n  b:\n    - 1\n    - c: yes\n      d: null\n");
    expect(plain(root!)).toEqual({ a: { b: [1, { c: "yes", d: null }] } });
    expect(placeOf(root!, ["a", "b", 1, "d"])).toMatchObject({ line: 5, column: 7 });
    expect(placeOf(root!, ["a", "b", 1, "absent", "x"])).toMatchObject({ line: 4, column: 7 });
  });

  it.each([
    ["a: 1\na: 2", "f.yml:2:1: the key a is given twice: it is also in line 1. Keep one of them"],
    ["a: [1, 2", "f.yml:1:9:"],
    ["? [1]\n: 2", "f.yml:1:3: a key must be a string"],
    ["a: *none", "f.yml:1:4:"],
    ["a: 1\n---\nb: 2", "f.yml:3:1: more than one document in one file"],
    ["\ta: 1", "f.yml:1:"],
  ])("reports the error in %j", (text, told) => {
    expect(tree(text).problems[0]).toContain(told);
  });

  it("is protected against expanding aliases and deep nesting", () => {
    const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 10; i++)
      bomb.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(",")}]`,
      );
    const started = performance.now();
    expect(tree(bomb.join("\n")).problems).toEqual(["f.yml:1:1: more than 1000000 values in one file"]);
    // Without the limit, expanding the aliases would take minutes.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(tree(`${"[".repeat(100)}${"]".repeat(100)}`).problems[0]).toMatch(/nested more than 64 deep/);
    expect(tree("a: &a\n  b: *a").problems[0]).toMatch(/^f\.yml:/);
  });

  it("treats keys with a meaning in JavaScript like any others", () => {
    const value = plain(tree("__proto__: {polluted: true}\nconstructor: 1").tree!) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("main files", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "svc-gitops-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const read = async (files: Record<string, string>, given: string[], environment = {}) => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    const problems = new Problems();
    const sources = newSources({ environment: new Environment(environment), directory, problems });
    return { scopes: await readScopes(given, sources), problems: problems.all.map(renderProblem) };
  };
  const GLOBAL = "org_settings: {}\ncontrols: {}\n";

  it("are distinguished by their content", async () => {
    const { scopes, problems } = await read(
      {
        "default.yml": GLOBAL,
        "teams/ops.yml": "name: '  Ope\u0301rations '\nsettings: {}\nreports: []\n",
        "teams/no-team.yml": "name: no TEAM\npolicies: []\n",
      },
      ["default.yml", "teams/ops.yml", "teams/no-team.yml"],
    );
    expect(problems).toEqual([]);
    expect(scopes.map(({ kind, name, file }) => [kind, name, file])).toEqual([
      ["global", null, "default.yml"],
      ["team", "Opérations", "teams/ops.yml"],
      ["no_team", "no TEAM", "teams/no-team.yml"],
    ]);
    expect(Object.keys(scopes[1]!.sections)).toEqual(["team_settings"]);
    expect(scopes[1]!.lists.query!.items).toEqual([]);
    expect(scopes[2]!.lists.policy!.items).toEqual([]);
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "unknown keys",
      { "default.yml": `${GLOBAL}polices: []\n` },
      ["default.yml:3:1: unknown key polices; did you mean policies?"],
    ],
    [
      "both spellings",
      { "t.yml": "name: A\nqueries: []\nreports: []\n" },
      ["t.yml:2:1: queries and reports are the same setting: give only one of them"],
    ],
    [
      "neither kind",
      { "t.yml": "policies: []\n" },
      ["t.yml:1:1: the file needs org_settings (the global file) or name (a team's)"],
    ],
    ["both kinds", { "t.yml": `name: A\n${GLOBAL}` }, ["t.yml:1:1: name cannot be used together with org_settings"]],
    ["a name that is none", { "t.yml": "name: [A]\n" }, ["t.yml:1:7: name must be the name of a team"]],
    [
      "no team under another file name",
      { "t.yml": "name: No team\n" },
      ["t.yml:1:7: the file for No team must be called no-team.yml"],
    ],
    ["a list that is none", { "t.yml": "name: A\nlabels: {a: 1}\n" }, ["t.yml:2:9: labels must be a list"]],
    ["a text", { "t.yml": "hello\n" }, ["t.yml:1:1: the file must be an object with org_settings or name"]],
  ])("refuse %s", async (_, files, told) => {
    expect((await read(files, Object.keys(files))).problems).toEqual(told);
  });

  it("may have no controls, or empty ones, which is noted", async () => {
    for (const [files, notes] of [
      [{ "default.yml": "org_settings: {}\n" }, []],
      [{ "default.yml": "org_settings: {}\ncontrols:\n" }, ["default.yml:2:1: controls is empty: the defaults apply"]],
      [
        { "default.yml": "org_settings: {}\n", "no-team.yml": "name: No team\ncontrols:\n" },
        ["no-team.yml:2:1: controls is empty: the defaults apply"],
      ],
    ] as const) {
      const { problems } = await read(files, Object.keys(files));
      expect(problems.map((one) => one.slice(0, notes[0]?.length))).toEqual(notes);
    }
  });

  it("must be consistent with each other", async () => {
    const { problems } = await read(
      {
        "a.yml": GLOBAL,
        "b.yml": GLOBAL,
        "c.yml": "name: Ops\n",
        "d.yml": "name: OPS\n",
        "no-team.yml": "name: No team\ncontrols: {}\n",
      },
      ["a.yml", "b.yml", "c.yml", "d.yml", "no-team.yml", "gone.yml"],
    );
    expect(problems).toEqual([
      "gone.yml:1:1: gone.yml does not exist",
      "b.yml:1:1: there is another global file: a.yml",
      "d.yml:1:7: team OPS is also in c.yml (names of teams must differ in more than letter case)",
      "no-team.yml:2:1: controls are also in a.yml: only one of the two files may have them",
    ]);
    expect((await read({ "no-team.yml": "name: No team\n" }, ["no-team.yml"])).problems).toEqual([
      "no-team.yml:1:7: the file for hosts without a team needs the global file in the same run",
    ]);
  });

  it("include files by absolute paths and patterns, and the same file from several files", async () => {
    const files = {
      "lib/p.yml": "- name: one\n",
      "a.yml": `name: A\npolicies:\n  - path: ${directory}/lib/p.yml\n  - path: gone.yml\n`,
      "b.yml": `name: B\npolicies:\n  - paths: ${directory}/lib/*.yml\n  - path: gone.yml\n`,
    };
    const { scopes, problems } = await read(files, ["a.yml", "b.yml"]);
    for (const { lists } of scopes)
      expect(lists.policy!.items.map(({ tree }) => plain(tree))).toEqual([{ name: "one" }]);
    expect(problems).toEqual(["a.yml:4:11: gone.yml does not exist", "b.yml:4:11: gone.yml does not exist"]);
  });

  it("include other files, relative to themselves", async () => {
    const { scopes, problems } = await read(
      {
        "default.yml": "org_settings:\n  path: lib/org.yml\ncontrols: {}\nagent_options:\n  path: ./lib/options.yml\n",
        "lib/org.yml": "org_info:\n  org_name: $ORG\n",
        "lib/options.yml": "config: {}\n",
        "teams/t.yml":
          "name: T\npolicies:\n  - path: ../lib/one.policies.yml\n  - name: inline\n  - paths: ../lib/more/**/*.yml\nreports:\n  - paths: ../lib/none/*.yml\n",
        "lib/one.policies.yml": "- name: one\n- name: two\n",
        "lib/more/b.yml": "- name: b\n",
        "lib/more/a/a.yml": "- name: a\n",
        "lib/more/c.txt": "no",
      },
      ["default.yml", "teams/t.yml"],
      { ORG: "Example" },
    );
    expect(problems).toEqual(["teams/t.yml:7:12: no file matches ../lib/none/*.yml"]);
    expect(plain(scopes[0]!.sections.org_settings!.tree!)).toEqual({ org_info: { org_name: "Example" } });
    expect(
      scopes[1]!.lists.policy!.items.map(({ tree, file }) => [plain(tree), file.slice(directory.length + 1)]),
    ).toEqual([
      [{ name: "one" }, "lib/one.policies.yml"],
      [{ name: "two" }, "lib/one.policies.yml"],
      [{ name: "inline" }, "teams/t.yml"],
      [{ name: "a" }, "lib/more/a/a.yml"],
      [{ name: "b" }, "lib/more/b.yml"],
    ]);
  });

  it.each<[string, string, string]>([
    ["labels:\n  - path: a.yml\n    paths: '*.yml'\n", "t.yml:3:5", "give either path or paths, not both"],
    [
      "labels:\n  - paths: a.yml\n",
      "t.yml:3:12",
      "paths must be a pattern with *, ?, [ or {; use path for a single file",
    ],
    ["labels:\n  - path: '*.yml'\n", "t.yml:3:11", "*.yml is a pattern: use paths"],
    ["labels:\n  - path: gone.yml\n", "t.yml:3:11", "gone.yml does not exist"],
    [
      "policies:\n  - path: empty.yml\n    critical: true\n",
      "t.yml:4:5",
      "critical is ignored: it does not apply to the items of an included file",
    ],
    ["labels:\n  - path: x.json\n", "t.yml:3:11", "x.json: unsupported extension, it must be .yml or .yaml"],
    [
      "labels:\n  - path: nested.yml\n",
      "nested.yml:1:3",
      "nested paths: an included file cannot include another by path",
    ],
    ["labels:\n  - path: map.yml\n", "map.yml:1:1", "a file of labels must be a list"],
    [
      "agent_options:\n  path: nest.yml\n",
      "nest.yml:1:1",
      "nested paths: an included file cannot include another by path",
    ],
    [
      "agent_options:\n  path: map.yml\n  config: {}\n",
      "t.yml:4:3",
      "config cannot be used together with path, which replaces the whole section",
    ],
    ["agent_options:\n  path: 7\n", "t.yml:3:9", "path must be the name of a file"],
    ["labels:\n  - path: binary.yml\n", "t.yml:3:11", "binary.yml is not UTF-8 text"],
  ])("refuse %j", async (text, at, message) => {
    await writeFile(join(directory, "binary.yml"), Buffer.from([0xff, 0xfe, 0x00]));
    const { problems } = await read(
      {
        "t.yml": `name: T\n${text}`,
        "nested.yml": "- path: map.yml\n",
        "map.yml": "a: 1\n",
        "empty.yml": "[]\n",
        "nest.yml": "path: map.yml\n",
      },
      ["t.yml"],
    );
    expect(problems).toEqual([`${at}: ${message}`]);
  });
});
