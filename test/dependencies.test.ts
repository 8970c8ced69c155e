// package.json, the code and docs/dependencies.md name the same packages.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { globSync } from "tinyglobby";
import { expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const dependencies = Object.keys(manifest.dependencies);
const devDependencies = Object.keys(manifest.devDependencies);
const [table = "", rest = ""] = readFileSync("docs/dependencies.md", "utf8").split("\nFor development: ");
const forDevelopment = rest.split("\n\n")[0]!;

const textsIn = (...globs: string[]) => globSync(globs).map((file) => readFileSync(file, "utf8"));
// The console is built into the package, so what it imports need not be installed with svc.
const server = globSync(["src/**/*.ts", "bin/run.js"], { ignore: "src/console/**" }).map((file) =>
  readFileSync(file, "utf8"),
);
const all = [
  ...server,
  ...textsIn("src/console/**/*.{ts,tsx}", "{test,bench,scripts}/**/*.{ts,mjs}", "bin/dev.js", "vitest.config.ts"),
];

const isNamed = (name: string, texts: readonly string[]) =>
  texts.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));

/** Programs that are run under another name than that of their package. */
const programs: Readonly<Record<string, string>> = { "@biomejs/biome": "biome", typescript: "tsc" };
const scripts = Object.values(manifest.scripts);
const runs = (name: string) => scripts.some((script) => script.split(" ").includes(programs[name] ?? name));

it("documents each package that is installed with svc, and no other", () => {
  const documented = [...table.matchAll(/^\| ([a-z@][^|]*) \|/gm)].flatMap(([, names]) => names!.split(", "));
  expect(documented.toSorted()).toEqual(dependencies.toSorted());
});

it("documents each package for development", () => {
  const packages = devDependencies.filter((name) => !name.startsWith("@types/"));
  expect(packages.filter((name) => !forDevelopment.includes(`\`${name}\``))).toEqual([]);
  const documented = [...forDevelopment.matchAll(/`([^` ]+)` [\d.]*\s*\(/g)].map(([, name]) => name);
  expect(documented.toSorted()).toEqual(packages.toSorted());
});

it("installs no package that nothing uses", () => {
  const { plugins } = manifest.oclif;
  expect(dependencies.filter((name) => !plugins.includes(name) && !isNamed(name, server))).toEqual([]);
  const types = (name: string) => name.startsWith("@types/");
  expect(devDependencies.filter((name) => !types(name) && !runs(name) && !isNamed(name, all))).toEqual([]);
  const typed = devDependencies.filter(types).map((name) => name.slice("@types/".length));
  expect(typed.filter((name) => name !== "node" && !isNamed(name, all))).toEqual([]);
});

it("declares each package that is imported, those of the server as such", () => {
  const imported = (texts: readonly string[]) =>
    texts
      .flatMap((text) => [
        ...text.matchAll(/^(?:import|export) [^;]*?from "([^".][^"]*)";$|^import "([^".][^"]*)";$/gm),
      ])
      .map(([, from, bare]) => /^(?:@[^/]+\/)?[^/]+/.exec(from ?? bare!)![0])
      .filter((name) => !isBuiltin(name) && !name.includes(":"));
  expect(imported(server).length).toBeGreaterThan(200);
  const known = (declared: readonly string[]) => (name: string) => !declared.includes(name);
  expect([...new Set(imported(server).filter(known(dependencies)))]).toEqual([]);
  expect([...new Set(imported(all).filter(known([...dependencies, ...devDependencies])))]).toEqual([]);
});
