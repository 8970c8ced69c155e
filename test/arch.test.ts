// Who may import what. Reads every import of src/ and holds it against the rules.
import { readdirSync, readFileSync } from "node:fs";
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
  .filter((name) => name.endsWith(".ts"))
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
    "src/server/core/",
    "src/server/agent/http/mount.ts",
    "src/server/web/",
  ],
  listhen: ["src/server/process/listen.ts"],
  lowdb: ["src/server/store/lowdb/", "src/cli/"],
  kysely: ["src/server/store/postgres/"],
  pg: ["src/server/store/postgres/"],
  undici: ["src/client/", "src/cli/", "src/server/core/outbound/fetch.ts"],
  nodemailer: ["src/server/mail/"],
  "@oclif/core": ["src/cli/", "src/commands/"],
  "@inquirer/prompts": ["src/cli/", "src/commands/"],
  "cli-table3": ["src/cli/"],
  "@napi-rs/keyring": ["src/cli/"],
  "@node-saml/node-saml": ["src/server/saml/"],
  "@node-rs/argon2": ["src/server/core/security/passwords.ts"],
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

  it("keeps the command line out of configuration as code, so that the rules for files have no terminal in them", () => {
    const upward = imports.filter(
      ({ file, target }) =>
        within(file, "src/gitops/") &&
        target.startsWith("src/") &&
        !within(target, "src/gitops/", "src/api/", "src/text/"),
    );
    expect(show(upward)).toEqual([]);
  });

  it("lets src/text import nothing", () => {
    expect(show(imports.filter(({ file }) => within(file, "src/text/")))).toEqual([]);
  });

  it("lets the simulator speak only the wire", () => {
    const own = imports.filter(({ file, target }) => within(file, "src/simulator/") && target.startsWith("src/"));
    expect(show(own.filter(({ target }) => !within(target, "src/simulator/")))).toEqual([]);
  });

  it("keeps resources off the engines, and engines off resources", () => {
    const engines = ["src/server/store/lowdb/", "src/server/store/postgres/"];
    const openers = [...engines, "src/server/data/open.ts", "src/server/store/tools/", "src/commands/db/"];
    expect(show(imports.filter(({ file, target }) => within(target, ...engines) && !within(file, ...openers)))).toEqual(
      [],
    );
    const upward = imports.filter(
      ({ file, target }) =>
        within(file, "src/server/store/") &&
        within(target, "src/server/") &&
        !within(target, "src/server/store/", "src/server/core/"),
    );
    expect(show(upward)).toEqual([]);
  });

  it("reads the environment in one place", () => {
    const readers = files.filter(
      (file) => within(file, "src/server/") && /process\.env/.test(readFileSync(join(root, file), "utf8")),
    );
    expect(readers).toEqual([]);
  });

  it("has no barrels: no file only re-exports", () => {
    const barrels = files.filter((file) => /^export (\*|\{[^}]*\}) from/m.test(readFileSync(join(root, file), "utf8")));
    expect(barrels).toEqual([]);
  });

  it("spells imports with .ts and files in kebab-case", () => {
    expect(show(imports.filter(({ target }) => target.startsWith("src/") && !/\.(ts|json)$/.test(target)))).toEqual([]);
    expect(files.filter((file) => !/^[a-z0-9/.-]+\.ts$/.test(file))).toEqual([]);
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

  it("has no enums, namespaces or parameter properties", () => {
    const bad = files.filter((file) =>
      /^\s*(export )?(declare )?(const )?(enum|namespace) \w+ ?\{/m.test(readFileSync(join(root, file), "utf8")),
    );
    expect(bad).toEqual([]);
  });
});
