// `svc db`: checks stored data, copies it to the other engine, backs it up and restores it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BenchServer, type Caller, signIn } from "../../bench/support/serve.ts";
import { runSimulation } from "../../src/simulator/run.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { agentCall, enroll, SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

const dataDir = newFolder();
let database: FreshDatabase;
let nodeKey: string;
let listed: unknown;

const hostsOf = async (call: Caller) => {
  const { hosts } = await call<{ hosts: Record<string, unknown>[] }>(
    "GET",
    "/hosts?order_key=id&populate_software=true",
  );
  // Whether a host is online depends on the time.
  return hosts.map(({ status, ...host }) => host);
};
const checksums = async (place: readonly string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await svc(["db", "check", "--json", ...place], { SVC_DATA_DIR: dataDir });
  expect(stderr).toContain("no problems found");
  expect(code).toBe(0);
  return JSON.parse(stdout);
};

beforeAll(async () => {
  await build();
  database = await freshDatabase();
  const server = await serve({ dataDir });
  const call = await withSecret(server);
  const report = await runSimulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts: 20,
    softwarePerHost: 60,
    mode: "enroll",
  });
  expect(report.errors).toBe(0);
  nodeKey = await enroll(server, "host-of-mine");
  await call("PATCH", "/config", { org_info: { org_name: "Example Org" } });
  await server.stop();
  const again = await serve({ dataDir });
  listed = await hostsOf(await signIn(again));
  expect(listed).toHaveLength(21);

  const inUse = await svc(["db", "check", "--data-dir", dataDir]);
  expect(inUse.code).not.toBe(0);
  expect(inUse.stderr).toContain(String(again.process.pid));
  await again.stop();
}, 600_000);
afterAll(() => database?.drop());

async function expectSame(server: BenchServer): Promise<void> {
  const call = await signIn(server);
  expect(await hostsOf(call)).toEqual(listed);
  const { org_info } = await call<{ org_info: { org_name: string } }>("GET", "/config");
  expect(org_info.org_name).toBe("Example Org");
  expect((await agentCall(server, "config", { node_key: nodeKey })).body).not.toHaveProperty("error");
}

it("copies the embedded store to Postgres, and the same server continues there", async () => {
  const planned = await svc(["db", "copy", "--from", dataDir, "--to", database.url, "--dry-run"]);
  expect(planned).toMatchObject({ code: 0, stderr: expect.stringMatching(/would copy \d{3,} rows/) });
  const copied = await svc(["db", "copy", "--from", dataDir, "--to", database.url]);
  expect(copied.stderr).toContain("copied and verified");
  expect(copied.code).toBe(0);
  expect(await checksums(["--database-url", database.url])).toEqual(await checksums(["--data-dir", dataDir]));

  const twice = await svc(["db", "copy", "--from", dataDir, "--to", database.url]);
  expect(twice.code).not.toBe(0);
  expect(twice.stderr).toMatch(/empty/);
  expect((await svc(["db", "copy", "--from", dataDir, "--to", database.url, "--dry-run"])).stderr).toMatch(/empty/);

  const server = await serve({ dataDir, env: { SVC_DATABASE_URL: database.url } });
  await expectSame(server);
  await server.stop();
}, 600_000);

it("restores a backup with the same checksums, and refuses a damaged one", async () => {
  const before = await checksums(["--data-dir", dataDir]);
  const file = join(newFolder(), "svc-backup.gz");
  const made = await svc(["db", "backup", file, "--data-dir", dataDir]);
  expect(made.code).toBe(0);

  const other = newFolder();
  const env = { SVC_SERVER_PRIVATE_KEY: serverKey() };
  const planned = await svc(["db", "restore", file, "--dry-run", "--data-dir", other], env);
  expect(planned).toMatchObject({ code: 0, stderr: expect.stringMatching(/would restore \d{3,} rows/) });
  expect(readdirSync(other)).toEqual([]);
  const wrongKey = await svc(["db", "restore", file, "--dry-run", "--data-dir", other], {
    SVC_SERVER_PRIVATE_KEY: Buffer.alloc(32, 1).toString("base64"),
  });
  expect(wrongKey).toMatchObject({ code: 1, stderr: expect.stringContaining("key") });
  const restored = await svc(["db", "restore", file, "--data-dir", other], env);
  expect(restored.stderr).not.toMatch(/error/i);
  expect(restored.code).toBe(0);
  expect(JSON.parse((await svc(["db", "check", "--json", "--data-dir", other], env)).stdout)).toEqual(before);
  const server = await serve({ dataDir: other, env });
  await expectSame(server);
  await server.stop();

  const bytes = readFileSync(file);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = newFolder();
  expect((await svc(["db", "restore", file, "--dry-run", "--data-dir", damaged], env)).code).toBe(1);
  const refused = await svc(["db", "restore", file, "--data-dir", damaged], env);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/damaged|checksum|incorrect|broken/i);
  const left = readdirSync(damaged);
  // A server that starts there finds an empty store, not a partial one.
  const empty = await serve({ dataDir: damaged, env });
  expect((await (await signIn(empty))<{ count: number }>("GET", "/hosts/count")).count, left.join()).toBe(0);
  await empty.stop();
}, 600_000);

const serverKey = (): string => readFileSync(join(dataDir, "server.key"), "utf8").trim();

it("migrates a database to the current schema, and reports if there is nothing to do", async () => {
  const empty = await freshDatabase();
  try {
    const migrate = (...more: string[]) =>
      svc(["db", "migrate", "--database-url", empty.url, "--data-dir", dataDir, ...more]);
    expect(await migrate("--dry-run")).toMatchObject({ code: 0, stderr: expect.stringContaining("would apply: 0001") });
    expect(await migrate()).toMatchObject({ code: 0, stderr: expect.stringContaining("applied: 0001-initial") });
    expect(await migrate()).toMatchObject({ code: 0, stderr: expect.stringContaining("up to date") });
  } finally {
    await empty.drop();
  }
});
