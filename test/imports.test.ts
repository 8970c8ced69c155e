// What vitest makes of packages is not what Node makes of them: it finds names in CommonJS modules that Node does not.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { globSync } from "tinyglobby";
import { expect, it } from "vitest";

/** Names that are imported from a package, at the start of a file or later. */
const IMPORT = /(?:^import (?!type\b)(?:\w+, )?\{([^{}]*)\} from|\{([^{}]*)\} = await import\()\s*"([^".][^"]*)"/gm;

function namesByPackage(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync("src/**/*.ts"))
    for (const [, atStart, later, from] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      if (from!.startsWith("node:")) continue;
      const names = found.get(from!) ?? new Set();
      found.set(from!, names);
      for (const part of (atStart ?? later)!.split(",")) {
        const [name = ""] = part.trim().split(/ as |:/);
        if (name !== "" && !name.startsWith("type ")) names.add(name.trim());
      }
    }
  return found;
}

it("finds all names that the code imports from packages", () => {
  const wanted = [...namesByPackage()].map(([from, names]) => [from, [...names]]);
  expect(wanted.length).toBeGreaterThan(20);
  const script = `
    const missing = [];
    for (const [from, names] of ${JSON.stringify(wanted)}) {
      const found = await import(from);
      for (const name of names) if (!(name in found)) missing.push(from + ": " + name);
    }
    console.log(JSON.stringify(missing));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([]);
});
