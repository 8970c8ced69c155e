// How much a browser loads. Needs the built console (`npm run build`).
import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";

const KB = 1024;
const FIRST_VISIT = 120 * KB;
const FURTHER_PAGE = 20 * KB;

type Manifest = Record<string, { file: string; imports?: string[]; css?: string[]; isEntry?: boolean }>;

const manifest: Manifest = JSON.parse(readFileSync("dist/browser/manifest.json", "utf8"));

/** The files of a chunk and of what it imports. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = manifest[name]!;
  if (seen.has(file)) return seen;
  for (const path of [file, ...css]) seen.add(path);
  for (const imported of imports) filesOf(imported, seen);
  return seen;
}

/** Bytes as they are sent to every browser of today. */
const sizeOf = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + statSync(`dist/browser/${file}.br`).size, 0);

const first = filesOf("main.tsx");
const pages = Object.keys(manifest).filter((name) => name.endsWith("-page.tsx"));

describe("the built console", () => {
  it("has a file for each page", () => {
    expect(pages.length).toBeGreaterThan(8);
  });

  it.each(pages)("loads %s within the budget", (page) => {
    const files = filesOf(page);
    const further = [...files].filter((file) => !first.has(file));
    expect(sizeOf(new Set([...first, ...files]))).toBeLessThan(FIRST_VISIT);
    // What lists share is loaded with the first of them.
    const shared = new Set(
      Object.keys(manifest)
        .filter((name) => name.startsWith("_"))
        .flatMap((name) => [...filesOf(name)]),
    );
    expect(sizeOf(further.filter((file) => !shared.has(file)))).toBeLessThan(FURTHER_PAGE);
  });

  it("has each file compressed in both ways", () => {
    for (const { file, css = [] } of Object.values(manifest))
      for (const path of [file, ...css])
        for (const end of [".br", ".gz"]) expect(existsSync(`dist/browser/${path}${end}`), path + end).toBe(true);
  });
});
