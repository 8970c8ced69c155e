// The files that `npm pack` would publish: everything that runs, and nothing else. .ci/pack.mjs tests that the package
// installs and starts.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path";
import { globSync } from "tinyglobby";
import { beforeAll, expect, it } from "vitest";
import { root } from "../support/cli.ts";
import { build } from "./support/svc.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const pjson = JSON.parse(read("package.json")) as {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  bin: Record<string, string>;
};

let packed: { size: number; unpackedSize: number };
let paths: Set<string>;
beforeAll(async () => {
  await build();
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [listed] = JSON.parse(
    execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
  packed = listed;
  paths = new Set((listed.files as { path: string }[]).map(({ path }) => path));
});

it("contains the binary, the built files, the manifest and the usual files of a package", () => {
  const allowed = [
    /^bin\/run\.js$/,
    /^dist\/.*\.js$/,
    /^dist\/bundle\/.*\.cjs$/,
    /^dist\/browser\/(manifest\.json|[\w-]+\.(js|css)(\.(br|gz))?)$/,
    /^dist\/agent\.mjs$/,
    /^dist\/server\/delivery\/new-hosts\/enroll\.(sh|ps1)$/,
    /^dist\/build-info\.json$/,
    /^oclif\.manifest\.json$/,
    /^package\.json$/,
    /^README\.md$/,
    /^CHANGELOG\.md$/,
    /^LICENSE$/,
  ];
  expect([...paths].filter((path) => !allowed.some((rule) => rule.test(path)))).toEqual([]);
  for (const path of [
    ...Object.values(pjson.bin).map((file) => normalize(file)),
    "oclif.manifest.json",
    "dist/build-info.json",
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
  ])
    expect(paths).toContain(path);
});

it("has a changelog whose newest section is this version, or the changes since then", () => {
  const [newest, before] = [...read("CHANGELOG.md").matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  expect(newest === "Unreleased" ? before : newest).toBe(pjson.version);
});

it("contains the file of every command", () => {
  const { commands } = JSON.parse(read("oclif.manifest.json")) as {
    commands: Record<string, { relativePath: string[] }>;
  };
  expect(Object.keys(commands).length).toBeGreaterThan(100);
  expect(
    Object.values(commands)
      .map(({ relativePath }) => relativePath.join("/"))
      .filter((path) => !paths.has(path)),
  ).toEqual([]);
});

it("contains the modules with which threads start", () => {
  const threads = globSync("src/**/*.thread.ts", { cwd: root });
  expect(threads.length).toBeGreaterThan(0);
  const built = threads.map((path) => path.replace(/^src/, "dist").replace(/\.ts$/, ".js"));
  expect(built.filter((path) => !paths.has(path))).toEqual([]);
});

const ANY = /(?:\bfrom|\bimport|\bimport\(|\bresolve\()\s*"((?:node:)?[\w@./-]+)"/g;
/** Bundled libraries look for optional ones that they can do without, and have examples in comments. */
const STATIC = /\bfrom\s*"([\w@./-]+)"/g;
const COMMENTS = /^\s*\/\*[\s\S]*?\*\/$/gm;
const isBundled = (path: string) => /^dist\/(bundle|server)\//.test(path);
const importsIn = (path: string) =>
  isBundled(path) ? read(path).replaceAll(COMMENTS, "").matchAll(STATIC) : read(path).matchAll(ANY);

/** Loads TypeScript where the agent runs from its sources, never in the package. */
const fromSourceOnly = new Set(["dist/agent/isolated/module-program.js: tsx"]);

it("imports only files and packages that it contains or depends on", () => {
  const missing = new Set<string>();
  for (const path of [...paths].filter((one) => one.endsWith(".js")))
    for (const [, name] of importsIn(path)) {
      if (name!.startsWith(".")) {
        const file = normalize(join(dirname(path), name!)).replaceAll("\\", "/");
        // Text in regular expressions and messages is not an import.
        if (/\.m?js$/.test(file) && !paths.has(file)) missing.add(`${path}: ${name}`);
        continue;
      }
      const [, own] = /^((?:@[^/]+\/)?[^/]+)/.exec(name!)!;
      if (fromSourceOnly.has(`${path}: ${name}`)) continue;
      if (!isBuiltin(name!) && !(own! in pjson.dependencies)) missing.add(`${path}: ${name}`);
    }
  expect([...missing]).toEqual([]);
});

it("has its own name, which the documentation and the examples use to install it", () => {
  // `svc` is an unrelated package in the public registry.
  expect(pjson.name).toBe("@svc-toolkit/svc");
  expect(Object.keys(pjson.bin)).toEqual(["svc"]);
  const files = [...globSync(["README.md", "CONTRIBUTING.md", "docs/*.md", "examples/**/*"], { cwd: root, dot: true })];
  const installed = files.flatMap((file) =>
    [...read(file).matchAll(/npm install (?:-g|--global) (\S+)/g)].map(([, name]) =>
      name!.replace(/[`,.;)]+$/, "").replace(/@VERSION$/, ""),
    ),
  );
  expect(installed.length).toBeGreaterThan(3);
  const local = ["", '"$(npm'];
  const isFile = (name: string) => name.endsWith(".tgz");
  expect(installed.filter((name) => !isFile(name) && ![pjson.name, ...local].includes(name))).toEqual([]);
});

it("is small: a tenth of it is the console, whose files are there in three encodings", () => {
  expect(packed.size).toBeLessThan(6_000_000);
  expect(packed.unpackedSize).toBeLessThan(21_500_000);
});
