// What `npm pack` would publish: what runs, all of it, and nothing else. That it installs and starts is .ci/pack.mjs's to see.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { root } from "../support/cli.ts";
import { build } from "./support/svc.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const pjson = JSON.parse(read("package.json")) as { dependencies: Record<string, string>; bin: Record<string, string> };

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

it("holds the binary, the built files, the manifest and what every package has", () => {
  const allowed = [
    /^bin\/run\.js$/,
    /^dist\/.*\.js$/,
    /^oclif\.manifest\.json$/,
    /^package\.json$/,
    /^README\.md$/,
    /^LICENSE$/,
  ];
  expect([...paths].filter((path) => !allowed.some((rule) => rule.test(path)))).toEqual([]);
  for (const path of [
    ...Object.values(pjson.bin).map((file) => normalize(file)),
    "oclif.manifest.json",
    "LICENSE",
    "README.md",
  ])
    expect(paths).toContain(path);
});

it("holds the file of every command", () => {
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

const ANY = /(?:\bfrom|\bimport|\bimport\(|\bresolve\()\s*"([^"\s]+)"/g;
/** Libraries bundled into ours look for further ones that they can do without. */
const STATIC = /\bfrom\s*"([\w@./-]+)"/g;

it("imports nothing that it does not bring along or depend on", () => {
  const missing = new Set<string>();
  for (const path of [...paths].filter((one) => one.endsWith(".js")))
    for (const [, name] of read(path).matchAll(path.startsWith("dist/vendor/") ? STATIC : ANY)) {
      if (name!.startsWith(".")) {
        const file = normalize(join(dirname(path), name!)).replaceAll("\\", "/");
        // Of a regular expression's or a message's text nobody loads anything.
        if (/\.m?js$/.test(file) && !paths.has(file)) missing.add(`${path}: ${name}`);
        continue;
      }
      const [, own] = /^((?:@[^/]+\/)?[^/]+)/.exec(name!)!;
      if (!isBuiltin(name!) && !(own! in pjson.dependencies)) missing.add(`${path}: ${name}`);
    }
  expect([...missing]).toEqual([]);
});

it("is small", () => {
  expect(packed.size).toBeLessThan(2_000_000);
  expect(packed.unpackedSize).toBeLessThan(10_000_000);
});
