// What vitest.config.ts relies on to run each test in exactly one of `npm test` and `npm run test:rest`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { globSync } from "tinyglobby";
import { expect, it } from "vitest";
import { root } from "./support/cli.ts";

const files = globSync("test/**/*.test.ts", {
  cwd: root,
  ignore: ["test/e2e/**", "test/browser/**", "test/**/*.long.test.ts"],
});

it("tests on both engines have the engine in their names", () => {
  const nameless = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const titles = [...text.matchAll(/\.each\(bothEngines\)\(\s*(["'`])(.*?)\1/g)].map(([, , title]) => title!);
    const uses = text.match(/\.each\(bothEngines\)/g)?.length ?? 0;
    return uses === titles.length
      ? titles.filter((title) => !title.includes("%s")).map((title) => `${file}: ${title}`)
      : [file];
  });
  expect(nameless).toEqual([]);
});

it("no test goes through the engines by itself, so that one of them can be left out", () => {
  const loops = files.filter((file) => /\bof bothEngines\b/.test(readFileSync(join(root, file), "utf8")));
  expect(loops).toEqual([]);
});
