// Backup and restore in a shell, with exactly the commands of docs/operations.md, while a server is running.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, cleanEnv, signIn } from "../../bench/support/serve.ts";
import { amount } from "../support/engines.ts";
import { freshDatabase } from "../support/postgres.ts";
import { enroll, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The commands of a section of the documentation, except those that run until they are stopped. */
function documented(section: string): { commands: string[]; serves: string[] } {
  const page = readFileSync(join(root, "docs", "operations.md"), "utf8");
  const [, text = ""] = page.split(`## ${section}\n`);
  const lines = [...text.split("\n## ")[0]!.matchAll(/^ {4}(\S.*?)(?: {2,}#.*)?$/gm)].map(([, command]) => command!);
  expect(lines.length).toBeGreaterThan(1);
  const isServe = (line: string) => line.startsWith("svc serve");
  return { commands: lines.filter((line) => !isServe(line)), serves: lines.filter(isServe) };
}

/** A folder with `svc` on the PATH and with replacements for the documentation's paths below /var/lib. */
function newcomer(urls: Readonly<Record<string, string>> = {}) {
  const home = newFolder();
  mkdirSync(join(home, "bin"));
  symlinkSync(join(root, "bin", "run.js"), join(home, "bin", "svc"));
  const lib = join(home, "lib");
  mkdirSync(lib);
  const run = (command: string) => {
    let line = command.replaceAll("/var/lib/", `${lib}/`);
    for (const [documented, real] of Object.entries(urls)) line = line.replaceAll(documented, real);
    const env = { ...cleanEnv(), PATH: `${join(home, "bin")}:${process.env.PATH}` };
    return new Promise<{ code: number; output: string }>((resolve) => {
      execFile("sh", ["-c", line], { cwd: home, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      );
    });
  };
  return { home, lib, dataDir: join(lib, "svc"), restored: join(lib, "svc-new"), run };
}

async function fill(server: BenchServer): Promise<void> {
  await withSecret(server, ["end-to-end-enroll-secret", "another-secret-of-this-server"]);
  await enroll(server, "host-1");
  await enroll(server, "host-2");
}

async function expectFilled(server: BenchServer): Promise<void> {
  const call = await signIn(server);
  expect((await call<{ count: number }>("GET", "/hosts/count")).count).toBe(2);
  // A secret can only be read with the key of the server that was backed up.
  expect(JSON.stringify(await call("GET", "/spec/enroll_secret"))).toContain("another-secret-of-this-server");
}

describe("the embedded store", () => {
  it("is backed up while its server runs and restored, as documented", async () => {
    const person = newcomer();
    const server = await serve({ dataDir: person.dataDir });
    await fill(server);
    for (const command of documented("I want a backup").commands.filter((line) => !line.includes("--database-url")))
      expect(await person.run(command), command).toMatchObject({ code: 0 });
    expect(server.process.exitCode).toBeNull();
    await enroll(server, "after-the-backup");
    await server.stop();

    const { commands, serves } = documented("I want to restore a backup");
    const command = commands.find((line) => !line.includes("--database-url"))!;
    expect(serves).toContain("svc serve --data-dir /var/lib/svc-new");
    const dry = await person.run(`${command} --dry-run`);
    expect(dry).toMatchObject({ code: 0, output: expect.stringMatching(/would restore \d+ rows/) });
    expect(existsSync(person.restored)).toBe(false);
    expect(await person.run(command)).toMatchObject({ code: 0, output: expect.stringMatching(/restored \d+ rows/) });
    const again = await serve({ dataDir: person.restored });
    await expectFilled(again);
    await again.stop();
    // The folder has already been restored.
    expect(await person.run(command)).toMatchObject({ code: 1, output: expect.stringContaining("empty") });
  });

  it("is not restored without its key, which the message names, and a second try with the key works", async () => {
    const person = newcomer();
    const server = await serve({ dataDir: person.dataDir });
    await fill(server);
    await server.stop();
    expect(await person.run("svc db backup b.gz --data-dir /var/lib/svc")).toMatchObject({ code: 0 });
    const restore = "svc db restore b.gz --data-dir /var/lib/svc-new";
    for (const tried of [restore, `${restore} --dry-run`]) {
      const { code, output } = await person.run(tried);
      expect(code).toBe(1);
      expect(output).toMatch(/encrypted with server key [0-9a-f]{8}.*no server key here/);
      expect(output).toContain("--server-key-file");
      expect(existsSync(person.restored)).toBe(false);
    }
    writeFileSync(join(person.home, "other.key"), Buffer.alloc(32, 3).toString("base64"));
    const wrong = await person.run(`${restore} --server-key-file other.key`);
    expect(wrong).toMatchObject({ code: 1, output: expect.stringMatching(/encrypted with server key [0-9a-f]{8}/) });
    expect(existsSync(person.restored)).toBe(false);

    // The other way: the key is copied manually.
    mkdirSync(person.restored);
    expect(await person.run("cp /var/lib/svc/server.key /var/lib/svc-new/server.key")).toMatchObject({ code: 0 });
    expect(await person.run(restore)).toMatchObject({ code: 0 });
    const again = await serve({ dataDir: person.restored });
    await expectFilled(again);
    await again.stop();
  });

  it("does not start with a new key if its own is missing", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir });
    await fill(server);
    await server.stop();
    const key = readFileSync(join(dataDir, "server.key"), "utf8");
    const before = readdirSync(dataDir).filter((name) => name !== "server.key");
    expect(await newcomer().run(`rm ${dataDir}/server.key`)).toMatchObject({ code: 0 });
    for (const args of [
      ["serve", "--port", "0"],
      ["db", "backup", join(newFolder(), "b.gz")],
      ["db", "check"],
    ]) {
      const { code, stderr } = await svc(args, { SVC_DATA_DIR: dataDir });
      expect(code).toBe(1);
      expect(stderr).toMatch(/encrypted with key [0-9a-f]{8}, and there is no server key/);
      expect(stderr).toContain(join(dataDir, "server.key"));
      expect(readdirSync(dataDir)).toEqual(before);
    }
    writeFileSync(join(dataDir, "server.key"), key);
    const again = await serve({ dataDir });
    await expectFilled(again);
    await again.stop();
  });

  it("is backed up completely while agents enroll", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir });
    await fill(server);
    let isOver = false;
    let enrolled = 0;
    const writing = (async () => {
      for (; !isOver; enrolled++) await enroll(server, `busy-${enrolled}`);
    })();
    const key = { SVC_SERVER_PRIVATE_KEY: readFileSync(join(dataDir, "server.key"), "utf8").trim() };
    for (let i = 0; i < amount(1, 2); i++) {
      const file = join(newFolder(), "b.gz");
      const known = enrolled;
      const made = await svc(["db", "backup", file, "--data-dir", dataDir]);
      expect(made, made.stderr).toMatchObject({ code: 0 });
      const into = newFolder();
      expect((await svc(["db", "restore", file, "--data-dir", into], key)).code).toBe(0);
      const checked = await svc(["db", "check", "--json", "--data-dir", into], key);
      expect(checked.stderr).toContain("no problems found");
      const tables = JSON.parse(checked.stdout) as { name: string; rows: number }[];
      expect(tables.find(({ name }) => name === "hosts")!.rows).toBeGreaterThanOrEqual(known);
    }
    isOver = true;
    await writing;
    expect(enrolled).toBeGreaterThan(5);
    await server.stop();
  });
});

describe("Postgres", () => {
  it("is backed up while its server runs and restored, as documented; a server without the key creates none", async () => {
    const [first, second] = [await freshDatabase(), await freshDatabase()];
    // The longer name first, because the other one is its beginning.
    const urls = { "postgres://svc@db/svc_new": second.url, "postgres://svc@db/svc": first.url };
    const person = newcomer(urls);
    try {
      const server = await serve({ dataDir: person.dataDir, env: { SVC_DATABASE_URL: first.url } });
      await fill(server);
      const backups = documented("I want a backup").commands;
      for (const command of backups.filter((line) => line.includes("--database-url") || line.startsWith("cp ")))
        expect(await person.run(command), command).toMatchObject({ code: 0 });

      const stranger = newFolder();
      const refused = await svc(["serve", "--port", "0"], { SVC_DATA_DIR: stranger, SVC_DATABASE_URL: first.url });
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no server key") });
      expect(readdirSync(stranger)).toEqual([]);
      await server.stop();

      const { commands, serves } = documented("I want to restore a backup");
      const command = commands.find((line) => line.includes("--database-url"))!;
      expect(serves).toContain("svc serve --database-url postgres://svc@db/svc_new --data-dir /var/lib/svc-new");
      expect(await person.run(command)).toMatchObject({ code: 0, output: expect.stringMatching(/restored \d+ rows/) });
      const again = await serve({ dataDir: person.restored, env: { SVC_DATABASE_URL: second.url } });
      await expectFilled(again);
      await again.stop();
    } finally {
      await first.drop();
      await second.drop();
    }
  });
});
