import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDataPlace } from "../../src/server/data-places.ts";
import { runCli } from "../support/cli.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-rotate-"));
  const log = pino({ level: "silent" });
  const { store } = await openDataPlace({ place: dir, dataDir: dir, env: {}, log, create: true });
  await store.serverSecrets.insert({ name: "a", created_at: "2026-03-01T12:00:00.000Z", value: "v" });
  await store.close();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const keyFile = () => readFile(join(dir, "server.key"), "utf8");
const rotate = (args: string[], options: Parameters<typeof runCli>[1] = {}) =>
  runCli(["db", "rotate-key", "--data-dir", dir, ...args], options);

it("asks for a key and a confirmation, and reports in a dry run what it would do", async () => {
  const before = await keyFile();
  expect((await rotate(["--yes"])).stderr).toContain("--generate");
  expect((await rotate(["--yes"])).exitCode).toBe(2);
  expect(await rotate(["--generate"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes") });
  expect(await rotate(["--generate", "--new-key-stdin", "--yes"])).toMatchObject({ exitCode: 2 });
  const dry = await rotate(["--generate", "--dry-run"]);
  expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("would encrypt 1 secret in") });
  expect(await keyFile()).toBe(before);
  expect((await readdir(dir)).sort()).toEqual(["db", "server.key"]);
});

it("reads the new key from stdin, shows no key, and reports key ids", async () => {
  const newKey = Buffer.alloc(32, 5).toString("base64");
  const before = (await keyFile()).trim();
  const done = await rotate(["--new-key-stdin", "--yes", "-o", "json"], { stdin: `${newKey}\n` });
  expect(done.exitCode, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toEqual({
    from: expect.stringMatching(/^[0-9a-f]{8}$/),
    to: expect.stringMatching(/^[0-9a-f]{8}$/),
    sealed: 1,
    file: true,
  });
  expect((await keyFile()).trim()).toBe(newKey);
  for (const key of [newKey, before]) expect(done.stdout + done.stderr).not.toContain(key);
  const again = await rotate(["--new-key-stdin", "--yes"], { stdin: newKey });
  expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("nothing to do") });
});

it("does not replace a key that is set in the environment", async () => {
  const env = { SVC_SERVER_PRIVATE_KEY: (await keyFile()).trim() };
  await rm(join(dir, "server.key"));
  const refused = await rotate(["--generate", "--yes"], { env });
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("openssl rand -base64 32") });
  const newKey = Buffer.alloc(32, 6).toString("base64");
  const done = await rotate(["--new-key-stdin", "--yes"], { env, stdin: newKey });
  expect(done).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("set SVC_SERVER_PRIVATE_KEY") });
  expect(await readdir(dir)).toEqual(["db"]);
});
