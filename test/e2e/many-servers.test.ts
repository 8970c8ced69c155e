// Several servers on one Postgres: as processes of one serve, and as separate serves behind a load balancer.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type BenchServer, signIn } from "../../bench/support/serve.ts";
import { lockNumber } from "../../src/server/platform/store/postgres/connection/runner.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { isWholeRun } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { agentCall, enroll, SECRET, withSecret } from "./support/agents.ts";
import { exchange } from "./support/raw.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(build);

let database: FreshDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await freshDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});
const balancers: Server[] = [];
afterAll(() => {
  for (const balancer of balancers) balancer.close();
});

const key = randomBytes(32).toString("base64");
const start = (port?: number, args: readonly string[] = []): Promise<BenchServer> =>
  serve({
    dataDir: newFolder(),
    args: ["--dev-license", ...args],
    env: { SVC_DATABASE_URL: database.url, SVC_SERVER_PRIVATE_KEY: key },
    ...(port === undefined ? {} : { port }),
  });

/** All database sessions. */
async function sessions(): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()",
  );
  return rows.map(({ pid }) => pid);
}

/** The database sessions of the server that sends deliveries. */
async function leaders(): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((classid::bigint << 32) | objid::bigint) = $1`,
    [lockNumber("lead outbox")],
  );
  return rows.map(({ pid }) => pid);
}

it("act as one service: changes on one are known to the other, one sends deliveries, and others take over its work after a crash", async () => {
  const servers = [await start(), await start()];
  const [a, b] = servers as [BenchServer, BenchServer];
  const call = await withSecret(a);
  await call("POST", "/teams", { name: "made on the first" });
  const other = await signIn(b);
  const { teams } = await other<{ teams: { name: string }[] }>("GET", "/teams");
  expect(teams.map(({ name }) => name)).toEqual(["made on the first"]);
  const nodeKey = await enroll(a, "host-1");
  expect((await agentCall(b, "config", { node_key: nodeKey })).status).toBe(200);
  // After an enrollment on one, the old key also becomes invalid on the other, which had cached it.
  const newer = await enroll(a, "host-1");
  await expect
    .poll(async () => (await agentCall(b, "config", { node_key: nodeKey })).body)
    .toMatchObject({ node_invalid: true });
  expect((await agentCall(b, "config", { node_key: newer })).body).not.toHaveProperty("error");

  await expect.poll(leaders).toHaveLength(1);
  // Whichever of them leads: after each has crashed once, another one leads.
  await a.stop("SIGKILL");
  await expect.poll(leaders).toHaveLength(1);
  const crashed = await sessions();
  const again = await start();
  await b.stop("SIGKILL");
  // Postgres may notice later that a session has ended.
  await expect.poll(async () => (await leaders()).filter((pid) => !crashed.includes(pid))).toHaveLength(1);
  expect((await agentCall(again, "config", { node_key: newer })).body).not.toHaveProperty("error");
  const last = await signIn(again);
  await last("POST", "/trigger?name=session_cleanup");
  const cleanup = async () => {
    const { jobs } = await last<{ jobs: { name: string; running: boolean; finished_at: string | null }[] }>(
      "GET",
      "/jobs",
    );
    return jobs.find(({ name }) => name === "session_cleanup");
  };
  await expect.poll(cleanup).toMatchObject({ running: false, finished_at: expect.any(String) });
  expect(await again.stop()).toBe(0);
});

it.runIf(process.platform === "linux")(
  "as workers of one serve share its port, and a crashed worker is restarted",
  async () => {
    const server = await start(undefined, ["--workers", "2"]);
    await withSecret(server);
    const nodeKey = await enroll(server, "host-1");
    // Each request on its own connection, an odd number: two workers that alternate differ by one.
    for (let i = 0; i < 21; i++)
      expect((await exchange(server.url, { target: "/api/v1/svc/version" }))?.status).toBe(401);
    const counts = new Set<number>();
    // On a busy machine, one of them may be free more often than the other.
    for (let i = 0; i < 100 && counts.size < 2; i++) counts.add(await versionsAsked(server));
    expect(counts.size).toBe(2);
    expect([...counts].reduce((sum, count) => sum + count, 0)).toBe(21);
    await expect.poll(leaders).toHaveLength(1);
    const workers = workersOf(server);
    expect(workers).toHaveLength(2);
    process.kill(workers[0]!, "SIGKILL");
    // The other worker serves in the meantime.
    await expect.poll(() => answers(server, nodeKey)).toBe(true);
    await expect.poll(() => workersOf(server).filter((pid) => pid !== workers[0])).toHaveLength(2);
    await expect.poll(leaders).toHaveLength(1);
    expect(await server.stop()).toBe(0);
  },
  600_000,
);

// test/e2e/restart.test.ts restarts one of two servers behind another kind of proxy.
it.runIf(isWholeRun)("no request fails after one retry while they are restarted one after the other", async () => {
  const ports = [await freePort(), await freePort()];
  const servers = [await start(ports[0]), await start(ports[1])];
  const call = await withSecret(servers[0]!);
  await call("POST", "/teams", { name: "before" });
  const url = await balance(ports);
  const simulation = new Simulation({
    serverUrl: url,
    enrollSecret: SECRET,
    hosts: 30,
    scale: 0.05,
    spread: 1,
    softwarePerHost: 20,
    logLinesPerMinute: 6,
  });
  simulation.start();
  await expect.poll(() => simulation.stats.enrolled).toBe(30);
  const keys = await Promise.all(Array.from({ length: 4 }, (_, i) => enroll(servers[0]!, `host-${i}`)));
  let isOver = false;
  let [asked, retried] = [0, 0];
  const failed: string[] = [];
  const balanced = { send: (path: string, init?: object) => fetch(`${url}${path}`, init) } as unknown as BenchServer;
  const asking = keys.map(async (node_key) => {
    while (!isOver) {
      asked++;
      const body = JSON.stringify({ node_key, queries: {}, statuses: {}, messages: {} });
      const isTaken = await agentCall(balanced, "distributed/write", body).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isTaken) continue;
      retried++;
      // A moment later and on a new connection, as agents do: an old one may lead to the server that is stopping.
      await pause(100);
      const target = "/api/v1/qengine/distributed/write";
      const again = await exchange(url, { method: "POST", target, body });
      const reason = again?.status === 200 ? null : `${again?.status} ${again?.body}`;
      if (reason !== null) failed.push(reason);
      await pause(5);
    }
  });
  for (let i = 0; i < 2; i++) {
    await pause(500);
    expect(await servers[i]!.stop()).toBe(0);
    servers[i] = await start(ports[i]);
  }
  await pause(500);
  await expect.poll(() => asked).toBeGreaterThan(100);
  isOver = true;
  await Promise.all(asking);
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(100);
  expect(retried).toBeLessThan(asked / 10);
  const report = await simulation.stop();
  expect(report.recentErrors).toEqual([]);
  expect(report).toMatchObject({ errors: 0, nodeInvalid: 0, reEnrolled: 0, lostResults: 0, pendingLines: 0 });
  for (const server of servers) expect(await server.stop()).toBe(0);
});

/** The number of version requests that one of the workers received, whichever replies. */
async function versionsAsked(server: BenchServer): Promise<number> {
  const reply = await exchange(server.url, { target: "/metrics" });
  const line = /^svc_http_requests_total\{[^}]*route="\/version"[^}]*\} (\d+)$/m.exec(reply?.body ?? "");
  return Number(line?.[1] ?? 0);
}

/** The processes that a serve has started. */
function workersOf({ process: { pid } }: BenchServer): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.trim().split(" ").filter(Boolean).map(Number);
}

/**
 * Whether the server replies to an agent, on a separate connection; a connection that was being passed to the crashed
 * worker hangs.
 */
async function answers(server: BenchServer, node_key: string): Promise<boolean> {
  const body = JSON.stringify({ node_key });
  const reply = await Promise.race([
    exchange(server.url, { method: "POST", target: "/api/v1/qengine/config", body }).catch(() => null),
    pause(1_000, null),
  ]);
  return reply?.status === 200;
}

/** A load balancer for connections that alternates, and skips servers that refuse. */
async function balance(ports: readonly number[]): Promise<string> {
  let turn = 0;
  const pipe = (from: Socket, at: number, tries: number): void => {
    const to = connect(ports[at % ports.length]!, "127.0.0.1");
    let isOpen = false;
    to.once("connect", () => {
      isOpen = true;
      from.pipe(to);
      to.pipe(from);
    });
    to.once("error", () => {
      if (!isOpen && tries > 1) pipe(from, at + 1, tries - 1);
      else from.destroy();
    });
    to.once("close", (hadError) => hadError || from.end());
    from.once("close", () => to.destroy());
  };
  const balancer = createServer({ pauseOnConnect: true }, (from) => {
    from.on("error", () => {});
    pipe(from, turn++, ports.length);
  });
  balancers.push(balancer);
  await new Promise<void>((done) => balancer.listen(0, "127.0.0.1", done));
  const address = balancer.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
