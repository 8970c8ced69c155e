// Who may import what. Reads every import of src/ and holds it against the rules.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Import {
  readonly file: string;
  /** A file below the root, or a package's name. */
  readonly target: string;
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name.replaceAll("\\", "/")}`);

const importsOf = (file: string): Import[] =>
  [...readFileSync(join(root, file), "utf8").matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)"([^"]+)"/gm)].map(
    ([, name]) => ({
      file,
      target: name!.startsWith(".") ? relative(root, join(root, dirname(file), name!)).replaceAll("\\", "/") : name!,
    }),
  );

const imports = files.flatMap(importsOf);
const within = (file: string, ...places: string[]) => places.some((place) => file === place || file.startsWith(place));
const show = (found: Import[]) => found.map(({ file, target }) => `${file} -> ${target}`);
const packageIs = (target: string, name: string) => target === name || target.startsWith(`${name}/`);

/** Packages that only these places may import. */
const packageHomes: Record<string, string[]> = {
  h3: [
    "src/server/app.ts",
    "src/server/main.ts",
    "src/server/platform/core/",
    "src/server/edge/agent/http/mount.ts",
    "src/server/edge/web/",
  ],
  listhen: ["src/server/platform/process/listen.ts"],
  lowdb: ["src/server/platform/store/lowdb/", "src/cli/"],
  pg: ["src/server/platform/store/postgres/"],
  "sql-template-tag": ["src/server/platform/store/postgres/"],
  "@aws-sdk/client-s3": ["src/server/platform/store/blobs/s3/"],
  undici: [
    "src/client/",
    "src/cli/",
    "src/server/platform/core/outbound/fetch.ts",
    "src/simulator/web.ts",
    "src/agent/net/",
  ],
  "@fastify/busboy": ["src/server/platform/core/http/bodies/multipart.ts"],
  nodemailer: ["src/server/platform/mail/"],
  "@oclif/core": ["src/cli/", "src/commands/"],
  "@inquirer/prompts": ["src/cli/", "src/commands/"],
  "cli-table3": ["src/cli/"],
  "@napi-rs/keyring": ["src/cli/"],
  "@node-saml/node-saml": ["src/server/platform/saml/"],
  "xml-crypto": ["src/server/platform/saml/"],
  "@node-rs/argon2": ["src/server/platform/core/security/passwords.ts"],
};

describe("imports", () => {
  it("finds the imports of the source", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
  });

  for (const [name, homes] of Object.entries(packageHomes))
    it(`keeps ${name} to its home`, () => {
      expect(show(imports.filter(({ file, target }) => packageIs(target, name) && !within(file, ...homes)))).toEqual(
        [],
      );
    });

  it("lets src/api import only zod and itself", () => {
    const foreign = imports.filter(
      ({ file, target }) => within(file, "src/api/") && !within(target, "src/api/") && !packageIs(target, "zod"),
    );
    expect(show(foreign)).toEqual([]);
  });

  it("keeps server code out of clients", () => {
    const allowed = ["src/server/", "src/commands/serve.ts", "src/commands/db/"];
    expect(
      show(imports.filter(({ file, target }) => within(target, "src/server/") && !within(file, ...allowed))),
    ).toEqual([]);
  });

  it("keeps clients out of the server, but for what serve hands to the command line", () => {
    const clients = ["src/client/", "src/cli/", "src/commands/", "src/gitops/"];
    expect(
      show(imports.filter(({ file, target }) => within(file, "src/server/") && within(target, ...clients))),
    ).toEqual([]);
  });

  it("lets the console import only the API and its client, and only the console and the server's page of it import it", () => {
    const foreign = imports.filter(
      ({ file, target }) =>
        within(file, "src/console/") &&
        target.startsWith("src/") &&
        !within(target, "src/console/", "src/api/", "src/client/", "src/text/"),
    );
    expect(show(foreign)).toEqual([]);
    const users = imports.filter(
      ({ file, target }) =>
        within(target, "src/console/") && !within(file, "src/console/", "src/server/edge/web/console/"),
    );
    expect(show(users)).toEqual([]);
    expect(
      show(imports.filter(({ file, target }) => within(file, "src/console/") && /^(node:|zod$)/.test(target))),
    ).toEqual([]);
  });

  it("sets no HTML from data in the console", () => {
    const unsafe = /dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write|srcdoc|srcDoc/;
    const console = files.filter((file) => within(file, "src/console/"));
    expect(console.length).toBeGreaterThan(30);
    expect(console.filter((file) => unsafe.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  });

  it("keeps the command line out of configuration as code, so that the rules for files have no terminal in them", () => {
    const upward = imports.filter(
      ({ file, target }) =>
        within(file, "src/gitops/") &&
        target.startsWith("src/") &&
        !within(target, "src/gitops/", "src/api/", "src/text/", "src/sql/", "src/plist/", "src/pki/", "src/syncml/"),
    );
    expect(show(upward)).toEqual([]);
  });

  it("lets src/pki import itself and nothing else of the project", () => {
    const foreign = imports.filter(
      ({ file, target }) => within(file, "src/pki/") && target.startsWith("src/") && !within(target, "src/pki/"),
    );
    expect(show(foreign)).toEqual([]);
  });

  it("lets src/packages import only functions on text and what reads XML and property lists", () => {
    const foreign = imports.filter(
      ({ file, target }) =>
        within(file, "src/packages/") &&
        target.startsWith("src/") &&
        !within(target, "src/packages/", "src/plist/", "src/text/", "src/xml/"),
    );
    expect(show(foreign)).toEqual([]);
  });

  it("lets src/text import itself only", () => {
    const inText = imports.filter(({ file }) => within(file, "src/text/"));
    expect(show(inText.filter(({ target }) => !within(target, "src/text/")))).toEqual([]);
  });

  it("lets the simulator speak only the wire", () => {
    const wire = [
      "src/simulator/",
      "src/agent-wire/",
      "src/pki/",
      "src/plist/",
      "src/soap/",
      "src/syncml/",
      "src/text/",
      "src/xml/",
    ];
    const own = imports.filter(({ file, target }) => within(file, "src/simulator/") && target.startsWith("src/"));
    expect(show(own.filter(({ target }) => !within(target, ...wire)))).toEqual([]);
  });

  it("lets the agent know nothing of the server, the client or the simulator", () => {
    const own = imports.filter(({ file, target }) => within(file, "src/agent/") && target.startsWith("src/"));
    const known = ["src/agent/", "src/agent-wire/", "src/pki/", "src/text/"];
    expect(show(own.filter(({ target }) => !within(target, ...known)))).toEqual([]);
  });

  it("lets src/agent-wire import nothing else of the project", () => {
    const own = imports.filter(({ file, target }) => within(file, "src/agent-wire/") && target.startsWith("src/"));
    expect(show(own.filter(({ target }) => !within(target, "src/agent-wire/")))).toEqual([]);
  });

  it("keeps resources off the engines, and engines off resources", () => {
    const engines = ["src/server/platform/store/lowdb/", "src/server/platform/store/postgres/"];
    const openers = [...engines, "src/server/open-data.ts", "src/server/platform/store/tools/", "src/commands/db/"];
    expect(show(imports.filter(({ file, target }) => within(target, ...engines) && !within(file, ...openers)))).toEqual(
      [],
    );
  });

  it("keeps the store off everything else of the server, and what all features use off features", () => {
    const upward = (from: string, ...known: string[]) =>
      imports.filter(
        ({ file, target }) => within(file, from) && within(target, "src/server/") && !within(target, from, ...known),
      );
    expect(show(upward("src/server/platform/store/"))).toEqual([]);
    expect(show(upward("src/server/platform/core/", "src/server/platform/store/"))).toEqual([]);
  });

  it("keeps what a server remembers in its running parts: no file of the server has a memory of its own", () => {
    // Forbidden at the top level of a file: `new WeakMap` and `new WeakSet`, and maps and sets that start empty. Two
    // servers in one process would share them, and nothing would stop what they hold. The way is `core/running.ts`;
    // `core/memo.ts` keeps what depends on an immutable value alone.
    const memories = files
      .filter((file) => within(file, "src/server/") && file !== "src/server/platform/core/memo.ts")
      .flatMap((file) =>
        readFileSync(join(root, file), "utf8")
          .split("\n")
          .filter((line) => /^(export )?(const|let) .*(\bnew Weak(Map|Set)\b|= new (Map|Set)(<.*>)?\(\);)/.test(line))
          .map((line) => `${file}: ${line}`),
      );
    expect(memories.filter((one) => !/: Readonly(Map|Set)</.test(one))).toEqual([]);
  });

  it("reads the environment in one place", () => {
    // An assignment reads nothing: one library has a switch that is a variable.
    const readers = files.filter(
      (file) => within(file, "src/server/") && /process\.env(?!\.\w+ = )/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(readers).toEqual([]);
  });

  it("has no barrels: no file only re-exports", () => {
    const barrels = files.filter((file) => /^export (\*|\{[^}]*\}) from/m.test(readFileSync(join(root, file), "utf8")));
    expect(barrels).toEqual([]);
  });

  it("spells imports with .ts and files in kebab-case", () => {
    expect(
      show(imports.filter(({ target }) => target.startsWith("src/") && !/\.(tsx?|json|css)$/.test(target))),
    ).toEqual([]);
    expect(files.filter((file) => !/^[a-z0-9/.-]+(\.d)?\.tsx?$/.test(file))).toEqual([]);
  });

  it("cleans up after each file: a hook made while a helper loads would be of the first file that loads it", () => {
    const helpers = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.endsWith("each-file.ts"),
    );
    expect(helpers.length).toBeGreaterThan(30);
    const hooked = helpers.filter((name) =>
      /^(after|before)(All|Each)\(/m.test(readFileSync(join(root, "test", name), "utf8")),
    );
    expect(hooked, "use test/support/ends.ts").toEqual([]);
  });

  it("marks what is private with #, which also holds while the program runs", () => {
    // A constructor cannot be marked in this way.
    const bad = files.filter((file) => /^\s+private (?!constructor\b)/m.test(readFileSync(join(root, file), "utf8")));
    expect(bad).toEqual([]);
  });

  it("has no enums, namespaces or parameter properties", () => {
    const bad = files.filter((file) =>
      /^\s*(export )?(declare )?(const )?(enum|namespace) \w+ ?\{/m.test(readFileSync(join(root, file), "utf8")),
    );
    expect(bad).toEqual([]);
  });
});

/** The wings of the server, from low to high: each may import those before it. */
const wings = [
  "platform",
  "accounts",
  "settings",
  "hosts",
  "checks",
  "certificates",
  "software",
  "devices",
  "automations",
  "inventory",
  "delivery",
  "edge",
];
/** Rooms of the server that are groups of features. */
const groups = [...wings, "devices/apple", "devices/windows", "devices/android"];
/**
 * The room of a file of the server, `wing/room`; in a group, the folder in the group. The files beside the wings put the
 * features together.
 */
const featureOf = (file: string): string | null => {
  if (!file.startsWith("src/server/")) return null;
  const folders = dirname(file).split("/").slice(2);
  if (folders.length === 0) return "src/server/*.ts";
  let depth = 1;
  while (depth < folders.length && groups.includes(folders.slice(0, depth).join("/"))) depth++;
  return folders.slice(0, depth).join("/");
};

/** The strongly connected parts with more than one node, by Tarjan's algorithm. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node)!);
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (path.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!));
    }
    if (low.get(node) !== index.get(node)) return;
    const part = path.splice(path.indexOf(node));
    if (part.length > 1) found.push(part);
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

describe("wings of the server", () => {
  const wingOf = (file: string): string | null => /^src\/server\/([^/]+)\//.exec(file)?.[1] ?? null;
  /** A file that lies in a wing itself, such as a rule that its rooms share, is a room. */
  const roomOf = (file: string): string | null => /^src\/server\/([^/]+\/[^/]+)/.exec(file)?.[1] ?? null;
  const inWings = imports.filter(({ file, target }) => wingOf(file) !== null && target.startsWith("src/server/"));

  it("are the folders that a reader sees first", () => {
    const folders = readdirSync(join(root, "src/server"), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders.map(({ name }) => name)).toEqual([...wings].sort());
  });

  it("import downwards only, and nothing of what puts them together", () => {
    const rank = (file: string) => (wingOf(file) === null ? wings.length : wings.indexOf(wingOf(file)!));
    const upward = inWings.filter(({ file, target }) => rank(target) > rank(file));
    expect(show(upward)).toEqual([]);
  });

  it("have rooms that form no cycle", () => {
    const graph = new Map<string, Set<string>>();
    const edges = inWings.flatMap(({ file, target }) => {
      const [from, to] = [roomOf(file)!, roomOf(target)!];
      return from === to || wingOf(file) !== wingOf(target) ? [] : [{ file, target, from, to }];
    });
    for (const { from, to } of edges) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    expect(graph.size).toBeGreaterThan(30);
    const cycle = cyclesOf(graph)[0] ?? [];
    expect(show(edges.filter(({ from, to }) => cycle.includes(from) && cycle.includes(to)))).toEqual([]);
  });
});

describe("wings of the API", () => {
  it("import downwards only, as those of the server", () => {
    const rank = (file: string) => wings.indexOf(/^src\/api\/([^/]+)\//.exec(file)?.[1] ?? "");
    const inWings = imports.filter(({ file, target }) => rank(file) >= 0 && rank(target) >= 0);
    expect(inWings.length).toBeGreaterThan(20);
    expect(show(inWings.filter(({ file, target }) => rank(target) > rank(file)))).toEqual([]);
  });
});

describe("features of the server", () => {
  const edges = imports.flatMap((one) => {
    const [from, to] = [featureOf(one.file), featureOf(one.target)];
    return from === null || to === null || from === to ? [] : [{ ...one, from, to }];
  });
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of edges) graph.set(from, (graph.get(from) ?? new Set()).add(to));

  it("form layers: no feature imports, through others, itself", () => {
    expect(graph.size).toBeGreaterThan(30);
    const cycle = cyclesOf(graph)[0] ?? [];
    expect(show(edges.filter(({ from, to }) => cycle.includes(from) && cycle.includes(to)))).toEqual([]);
  });

  it("finds cycles", () => {
    const graphOf = (...pairs: [string, string][]) => {
      const made = new Map<string, Set<string>>();
      for (const [from, to] of pairs) made.set(from, (made.get(from) ?? new Set()).add(to));
      return made;
    };
    expect(cyclesOf(graphOf(["a", "b"], ["b", "c"], ["a", "c"]))).toEqual([]);
    const found = cyclesOf(graphOf(["a", "b"], ["b", "c"], ["c", "d"], ["d", "b"], ["c", "e"]));
    expect(found.map((part) => part.sort())).toEqual([["b", "c", "d"]]);
  });
});

describe("classes of commands", () => {
  const parents = files
    .filter((file) => within(file, "src/commands/", "src/cli/"))
    .flatMap((file) =>
      [
        ...readFileSync(join(root, file), "utf8").matchAll(
          /^export .*\bclass (\w+)(?:<[^>]*>)? extends (\w*Command)\b/gm,
        ),
      ].map(([, name, parent]) => ({ file, name: name!, parent: parent! })),
    );

  it("are two above every command: what several share is functions and small objects", () => {
    expect(parents.length).toBeGreaterThan(400);
    const others = parents.filter(({ parent }) => !["BaseCommand", "ClientCommand"].includes(parent));
    expect(others).toEqual([{ file: "src/cli/base-command.ts", name: "BaseCommand", parent: "Command" }]);
    const bases = parents.filter(({ file }) => !within(file, "src/commands/")).map(({ name }) => name);
    expect(bases).toEqual(["BaseCommand", "ClientCommand"]);
  });
});

describe("files", () => {
  /** Imports of types alone are gone when the program runs. */
  const isOfTypes = (names: string) =>
    names.startsWith("type ") || /^\{(?:\s*type\s[^,}]*,?)+\s*\}$/.test(names.trim());
  const allImports = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^(?:import|export)\s+([^;"]*?)\s*\bfrom\s+"(\.[^"]+)"/gm)].map(
      ([, names, name]) => ({
        file,
        isOfTypes: isOfTypes(names!),
        target: relative(root, join(root, dirname(file), name!)).replaceAll("\\", "/"),
      }),
    ),
  );
  const valueImports = allImports.filter((edge) => !edge.isOfTypes);
  const graphOfFiles = (imports: readonly { readonly file: string; readonly target: string }[]) => {
    const graph = new Map<string, Set<string>>();
    for (const { file, target } of imports) graph.set(file, (graph.get(file) ?? new Set()).add(target));
    return graph;
  };

  it("form no cycle by what they import, besides types", () => {
    expect(valueImports.length).toBeGreaterThan(1000);
    expect(cyclesOf(graphOfFiles(valueImports))).toEqual([]);
  });

  it("form few cycles by types: contexts, tables of the simulator, the terminal, connections, kinds of files", () => {
    const cycles = cyclesOf(graphOfFiles(allImports));
    expect(cycles.length, JSON.stringify(cycles, null, 1)).toBeLessThanOrEqual(5);
  });
});

describe.each(["src/cli/", "src/gitops/"])("rooms of %s", (place) => {
  // Files beside the rooms, such as base classes, put them together.
  const roomOf = (file: string): string | null => {
    const rest = file.startsWith(place) ? file.slice(place.length).split("/") : [];
    return rest.length > 1 ? rest[0]! : null;
  };

  it("form layers: no room imports, through others, itself", () => {
    const edges = imports.flatMap((one) => {
      const [from, to] = [roomOf(one.file), roomOf(one.target)];
      return from === null || to === null || from === to ? [] : [{ ...one, from, to }];
    });
    const graph = new Map<string, Set<string>>();
    for (const { from, to } of edges) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    expect(graph.size).toBeGreaterThan(2);
    const cycle = cyclesOf(graph)[0] ?? [];
    expect(show(edges.filter(({ from, to }) => cycle.includes(from) && cycle.includes(to)))).toEqual([]);
  });
});

/** The feature that keeps each table: the one that adds it to the type `Tables`. */
const ownerOf = new Map<string, string>();
for (const file of files.filter((name) => within(name, "src/server/")))
  for (const [, tables] of readFileSync(join(root, file), "utf8").matchAll(/interface Tables \{([^}]*)\}/g))
    for (const [, name] of tables!.matchAll(/^\s*readonly (\w+):/gm)) ownerOf.set(name!, featureOf(file)!);

describe("tables", () => {
  /** The engines, and the tools that copy and check whole stores, know every table. */
  const general = ["src/server/platform/store/", "src/server/data-tools.ts"];
  const sources = files
    .filter((file) => within(file, "src/server/") && !within(file, ...general))
    .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

  /** `tx.hosts.update(`: what services call a store, a table, a write. */
  const writesIn = (text: string) =>
    [...text.matchAll(/\b(?:store|tx|inside)\s*\.(\w+)\s*\.(?:insert|insertMany|upsert|update|updateEach|delete)\(/g)]
      .map(([, table]) => table!)
      .filter((table) => ownerOf.has(table));

  it("are written by the feature alone that keeps them; others call its functions", () => {
    expect(ownerOf.size).toBeGreaterThan(60);
    expect(sources.flatMap(({ text }) => writesIn(text)).length).toBeGreaterThan(200);
    const foreign = sources.flatMap(({ file, text }) =>
      writesIn(text)
        .filter((table) => ownerOf.get(table) !== featureOf(file))
        .map((table) => `${file.slice("src/server/".length)} -> ${table}`),
    );
    expect(foreign).toEqual([]);
  });

  it("are written under their own names, so that the test above sees each write", () => {
    const hidden = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/(.*)\.(?:insertMany|upsert|updateEach)\(|(.*)\.update\(\{/g)]
        .map(([line]) => line)
        .filter((line) => writesIn(line).length === 0)
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(hidden).toEqual([]);
  });
});

describe("folders", () => {
  /** Flat lists of things of one kind: resources of the API, commands, migrations. */
  const flat = ["src/api", "src/commands/", "src/server/platform/store/postgres/migrations"];

  it("have at most 25 files", () => {
    const counts = new Map<string, number>();
    for (const folder of files.map((file) => dirname(file))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    expect([...counts].filter(([folder, count]) => count > 25 && !within(folder, ...flat))).toEqual([]);
  });
});

describe("tests", () => {
  it("choose their stores by name: rules run on one, what differs between the stores on both", () => {
    const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
    const listed = names.filter(
      (name) =>
        name.endsWith(".test.ts") && /\["lowdb",\s*"postgres"\]/.test(readFileSync(join(root, "test", name), "utf8")),
    );
    // rulesEngines or bothEngines of test/support/engines.ts.
    expect(listed).toEqual([]);
  });
});

describe("comments", () => {
  const commented = ["src", "test", "bench", "bin", "examples", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.m?[jt]s$/.test(name) && !name.startsWith("fixtures"))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
  );
  /** The comments of each file, a run of `//` lines being one, without the signs around them. */
  const comments = commented.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+/gm)].map(
      ([whole]) => ({
        file,
        text: whole
          .replace(/^[ \t]*(\/\*\*?|\*(?!\/)|\/\/)|\*\/[ \t]*$/gm, "")
          .replace(/\s+/g, " ")
          .trim(),
      }),
    ),
  );
  const shown = (found: typeof comments) => found.map(({ file, text }) => `${file}: ${text.slice(0, 100)}`);

  it("stand alone: none begins with a word that needs the line before it", () => {
    const needy =
      /^(Of|As|The same|What of|Likewise|Also|And|Or|But|So|Like|Such|Those|These|This one|It|Its|They|Their|Otherwise|Too|Nor|Else)\b/;
    expect(shown(comments.filter(({ text }) => needy.test(text))), "name what the comment is about").toEqual([]);
  });

  it("cite published standards, or pages and sections that the repository has", () => {
    expect(comments.length).toBeGreaterThan(5_000);
    const foreign =
      /\b(agent|device) protocols?,? (section|\d)|\b[Pp]arts? [A-E]('s)?\b|\bdecisions? \d|\bthe spec('s)?\b(?! (of a team|in the|within))|\(\d+\.\d+\.\d+(\.\d+)*\)|\breference (server|has no|lists)\b/;
    expect(shown(comments.filter(({ text }) => foreign.test(text)))).toEqual([]);

    const missing = comments.filter(({ text }) =>
      [...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:, ([A-Z][\w ]*?)(?= and |[,.;:)]|$))?/g)].some(([, page, section]) => {
        if (!existsSync(join(root, page!))) return true;
        const headings = readFileSync(join(root, page!), "utf8").match(/^#+ .*$/gm) ?? [];
        return section !== undefined && !headings.some((heading) => heading.replace(/^#+ /, "").startsWith(section));
      }),
    );
    expect(shown(missing)).toEqual([]);
  });

  it("name files that exist, by their path or the end of it", () => {
    const ends = new Set(
      ["src", "test", "bench", "bin", "docs", "examples", "scripts"].flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).flatMap((name) => {
          const parts = [folder, ...name.replaceAll("\\", "/").split("/")];
          return parts.map((_, at) => parts.slice(at).join("/"));
        }),
      ),
    );
    for (const name of readdirSync(root)) ends.add(name);
    const path = /(?<![\w/.@-])(?:\.{1,2}\/)*((?:[\w.-]+\/)*[\w-]+(?:\.\w+)*\.(?:ts|md))\b/g;
    const dangling = ({ text }: { text: string }) => [...text.matchAll(path)].some(([, file]) => !ends.has(file!));
    expect(shown(comments.filter(dangling))).toEqual([]);
  });
});

describe("words", () => {
  const places = ["src", "test", "bench", "bin", "docs", "examples", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(m?[jt]sx?|md|ya?ml|json|tsv|sh)$/.test(name))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
  );
  const textOf = (file: string) => readFileSync(join(root, file), "utf8");

  it("spell license one way, in names, texts and file names", () => {
    const british = /licen[c]e/i;
    const own = [...places, "README.md", "CONTRIBUTING.md", "CHANGELOG.md"].filter(
      // The vocabulary names the words that are not used.
      (file) => file !== "docs/vocabulary.md",
    );
    expect(own.length).toBeGreaterThan(2_000);
    expect(own.filter((file) => british.test(file) || british.test(textOf(file)))).toEqual([]);
  });

  it("name in a type the thing, never only what was done to it, and what a function needs of its surroundings Deps", () => {
    const bare =
      /^(Home|Needs|Backing|Holder|Row|Outcome|Known|Verdict|Own|One|Made|Found|Kept|Held|Told|Seen|Given|Shown|Written|Sent|Begun|Left|[A-Z][a-z]+ed)$/;
    const nouns = new Set(["Feed"]);
    const types = places
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        [...textOf(file).matchAll(/^(?:export )?(?:type|interface|(?:abstract )?class) (\w+)/gm)].map(([, name]) => ({
          file,
          name: name!,
        })),
      );
    expect(types.length).toBeGreaterThan(2_500);
    const wrong = types.filter(({ name }) => bare.test(name) && !nouns.has(name));
    expect(wrong.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });

  it("name in a variable the thing, not that it was given, asked for or found", () => {
    const bare = "(?:given|asked|wanted|found|known|own|one|some|made)";
    // Declarations, parameters of short functions, and patterns without a name of their own.
    const declared = new RegExp(
      `(?:^\\s*|\\(|export )(?:const|let) ${bare}\\b|(?<![.\\w])\\(?${bare}\\)? =>|\\b(?:const|let) \\{[^}=:]*\\b${bare}\\b[^}=:]*\\} =`,
      "gm",
    );
    // Columns and wire fields keep their names.
    const code = places.filter((file) => file.startsWith("src/") && /\.tsx?$/.test(file));
    const wrong = code.flatMap((file) =>
      [
        ...textOf(file)
          .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")
          .matchAll(declared),
      ].map(([text]) => `${file}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });

  it("name in a constant how many it allows: BATCH_SIZE, MAX_CONCURRENT, or the noun", () => {
    const bare = /\b(?:const|let) (BATCH|STEP|PAGE|CHUNK|SLICE|(?:\w+_)?AT_ONCE|TOGETHER|PARTS_MAX|CHANGES)\b/g;
    const code = places.filter((file) => /\.m?[jt]s$/.test(file));
    const wrong = code.flatMap((file) => [...textOf(file).matchAll(bare)].map(([, name]) => `${file}: ${name}`));
    expect(wrong).toEqual([]);
  });
});

describe("kinds of configuration", () => {
  const places = [
    "src/server/edge/configuration/",
    "src/gitops/",
    "src/api/edge/configuration.ts",
    "src/cli/topics/configuration.ts",
  ];
  const commands = ["apply", "plan", "drift", "export"].map((name) => `src/commands/${name}.ts`);
  const kinds = Object.entries({
    config: 0,
    certificate_authority: 0,
    label: "labels",
    team: 0,
    agent_options: 0,
    team_settings: 0,
    enroll_secrets: 0,
    policy: "policies",
    query: "queries",
    configuration_profile: 0,
    certificate_template: 0,
  });
  /** Kinds named as a text, as a key, as the folder of a kind, or in the plural as a list of objects. */
  const namesOf = (file: string): string[] => {
    const code = readFileSync(join(root, file), "utf8")
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")
      // A field of labels, and owners of objects, have such names too.
      .replace(/wrong\("query"|.*\bno_team\b.*|\bowners: .*|^\s*team: \{ as: /gm, "");
    return kinds
      .filter(([kind, plural]) =>
        new RegExp(
          `"${kind}"|^\\s*${kind}: \\{|kinds/${kind.replaceAll("_", "-")}[/.]${plural ? `|\\b${plural}\\b` : ""}`,
          "m",
        ).test(code),
      )
      .map(([kind]) => kind);
  };
  const inPlaces = files.filter((file) => within(file, ...places, ...commands));
  const named = new Map(inPlaces.map((file) => [file, namesOf(file)]));
  const lists = ["src/gitops/kinds.ts", "src/server/edge/configuration/kinds.ts"];

  it("are named, three or more in one file, only by the lists of both sides", () => {
    const many = inPlaces.filter((file) => named.get(file)!.length >= 3).sort();
    expect(many).toEqual(lists);
  });

  // Labels and teams are what other kinds refer to; settings of teams share their section with other kinds.
  const references = "src/gitops/kinds/references/policy.ts";
  it.each(["certificate_authority", "certificate_template", "configuration_profile", "policy"])(
    "are known in four places, such as %s: a module and a list each",
    (kind) => {
      const own = kind.replaceAll("_", "-");
      const modules = [`src/gitops/kinds/${own}.ts`, `src/server/edge/configuration/kinds/${own}/`];
      for (const module of modules) expect(inPlaces.some((file) => within(file, module))).toBe(true);
      const isOther = (file: string) => file !== references && !within(file, ...modules);
      const others = inPlaces.filter((file) => named.get(file)!.includes(kind) && isOther(file));
      expect(others.sort()).toEqual(lists);
    },
  );
});
