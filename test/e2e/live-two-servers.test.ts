// Live queries across servers, and after a crash of one: the user calls one server, the agents another.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type BenchServer, type Caller, cleanEnv, signIn } from "../../bench/support/serve.ts";
import { freePort } from "../support/free-port.ts";
import { eventsOf, readUntil, type StreamEvent } from "../support/live.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { agentCall, enroll, withSecret } from "./support/agents.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(build);

const PREFIX = "svc_distributed_query_";
const binary = fileURLToPath(new URL("../../bin/run.js", import.meta.url));

interface LiveQuery {
  readonly id: number;
  readonly status: string;
  readonly counts: Record<string, number>;
}

/** Polls until the host gets the live query; returns the name of the query. */
async function askedLive(server: BenchServer, nodeKey: string): Promise<string> {
  let name: string | undefined;
  const ask = async () => {
    const { body } = await agentCall(server, "distributed/read", { node_key: nodeKey });
    name = Object.keys((body.queries ?? {}) as object).find((one) => one.startsWith(PREFIX));
    return name;
  };
  await expect.poll(ask, { message: "the host is asked" }).toBeDefined();
  return name!;
}

async function answer(server: BenchServer, nodeKey: string, name: string, row: Record<string, string>): Promise<void> {
  const { body } = await agentCall(server, "distributed/write", {
    node_key: nodeKey,
    queries: { [name]: [row] },
    statuses: { [name]: 0 },
  });
  expect(body).toEqual({});
}

async function tokenOf(server: BenchServer): Promise<string> {
  const reply = await server.send("/api/v1/svc/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  return ((await reply.json()) as { token: string }).token;
}

async function stream(server: BenchServer, id: number, last?: number): Promise<AsyncGenerator<StreamEvent>> {
  const headers: Record<string, string> = { authorization: `Bearer ${await tokenOf(server)}` };
  if (last !== undefined) headers["last-event-id"] = String(last);
  return eventsOf((await server.send(`/api/v1/svc/queries/live/${id}/stream`, { headers })) as unknown as Response);
}

const hostIds = async (call: Caller): Promise<number[]> =>
  (await call<{ hosts: { id: number }[] }>("GET", "/hosts")).hosts.map(({ id }) => id);
const start = async (call: Caller, hosts: number[], more: Record<string, unknown> = {}): Promise<LiveQuery> =>
  (
    await call<{ live_query: LiveQuery }>("POST", "/queries/live", {
      query: "SELECT 1",
      selected: { hosts },
      ...more,
    })
  ).live_query;
const finished = ({ event, data }: StreamEvent) => event === "status" && data.status === "finished";

describe("two servers on one database", () => {
  let database: FreshDatabase;
  const env = () => ({ SVC_DATABASE_URL: database.url, SVC_SERVER_PRIVATE_KEY: key });
  const key = randomBytes(32).toString("base64");
  const startServer = (port?: number) =>
    serve({ dataDir: newFolder(), args: ["--dev-license"], env: env(), ...(port === undefined ? {} : { port }) });
  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(() => database.drop());

  it("pass results from the agents of one server to the user of the other immediately", async () => {
    const [a, b] = [await startServer(), await startServer()];
    const call = await withSecret(a);
    const keys = [await enroll(b, "one"), await enroll(b, "two")];
    const query = await start(call, await hostIds(call));
    const events = await stream(a, query.id);
    await readUntil(events, ({ event }) => event === "status");
    for (const [i, nodeKey] of keys.entries()) {
      const name = await askedLive(b, nodeKey);
      const sentAt = performance.now();
      await answer(b, nodeKey, name, { n: String(i) });
      const [result] = (await readUntil(events, ({ event }) => event === "result")).slice(-1);
      // Through a message: without one, readers check the store themselves after 15 seconds.
      expect(performance.now() - sentAt).toBeLessThan(12_000);
      expect(result).toMatchObject({ id: i + 1, data: { rows: [{ n: String(i) }], error: null } });
    }
    const last = (await readUntil(events, finished)).at(-1)!;
    expect(last.data.counts).toMatchObject({ targets: 2, answered: 2, waiting: 0 });

    // A blocking call on one server gets the result of a host on the other.
    const [first] = await hostIds(call);
    const waiting = call<{ rows: unknown; error: unknown }>("POST", `/hosts/${first}/query`, { query: "SELECT 2" });
    await answer(b, keys[0]!, await askedLive(b, keys[0]!), { two: "2" });
    expect(await waiting).toMatchObject({ rows: [{ two: "2" }], error: null });

    // After a cancellation on one server, the other no longer sends the query.
    const other = await start(call, [first!]);
    await askedLive(b, keys[0]!);
    await call("POST", `/queries/live/${other.id}/cancel`);
    await expect
      .poll(async () => {
        const { body } = await agentCall(b, "distributed/read", { node_key: keys[0] });
        return Object.keys((body.queries ?? {}) as object).filter((name) => name.startsWith(PREFIX));
      })
      .toEqual([]);
    for (const server of [a, b]) expect(await server.stop()).toBe(0);
  });

  it("keep a query open that a websocket of one reads, while agents ask the other", async () => {
    const [a, b] = [await startServer(), await startServer()];
    const call = await withSecret(a);
    const keys = [await enroll(b, "one"), await enroll(b, "two")];
    const { campaign } = await call<{ campaign: { id: number } }>("POST", "/queries/run", {
      query: "SELECT 1",
      selected: { hosts: await hostIds(call) },
    });
    const socket = new WebSocket(`${a.url.replace(/^http/, "ws")}/api/v1/svc/results/websocket`);
    const messages: { type: string; data: { status?: string; rows?: unknown } }[] = [];
    socket.on("message", (raw) => messages.push(JSON.parse(String(raw))));
    await new Promise((done) => socket.once("open", done));
    const say = (type: string, data: unknown) => socket.send(JSON.stringify({ type, data }));
    say("auth", { token: await tokenOf(a) });
    say("select_campaign", { campaign_id: campaign.id });
    for (const [i, nodeKey] of keys.entries()) {
      await answer(b, nodeKey, await askedLive(b, nodeKey), { n: String(i) });
      await expect.poll(() => messages.filter(({ type }) => type === "result").length, { timeout: 20_000 }).toBe(i + 1);
    }
    const last = () => messages.findLast(({ type }) => type === "status")?.data;
    await expect.poll(last, { timeout: 20_000 }).toMatchObject({ status: "finished", actual_results: 2 });
    const state = async () =>
      (await call<{ live_query: LiveQuery }>("GET", `/queries/live/${campaign.id}`)).live_query.status;
    expect(await state()).toBe("running");
    socket.close();
    await expect.poll(state).toBe("complete");
    for (const server of [a, b]) expect(await server.stop()).toBe(0);
  });

  it("lose no acknowledged result when both are killed", async () => {
    const ports = [await freePort(), await freePort()];
    const [a, b] = [await startServer(ports[0]), await startServer(ports[1])];
    const call = await withSecret(a);
    const keys = [await enroll(b, "one"), await enroll(b, "two")];
    const query = await start(call, await hostIds(call), { queue_until: "1h" });
    await answer(b, keys[0]!, await askedLive(b, keys[0]!), { kept: "yes" });
    for (const server of [a, b]) await server.stop("SIGKILL");
    const [c, d] = [await startServer(ports[0]), await startServer(ports[1])];
    await signIn(c);
    const events = await stream(c, query.id);
    const [result] = (await readUntil(events, ({ event }) => event === "result")).slice(-1);
    expect(result).toMatchObject({ id: 1, data: { rows: [{ kept: "yes" }] } });
    // The host that has answered does not get the query again; the other one does, and ends it.
    const { body } = await agentCall(d, "distributed/read", { node_key: keys[0] });
    expect(Object.keys((body.queries ?? {}) as object).filter((name) => name.startsWith(PREFIX))).toEqual([]);
    await answer(d, keys[1]!, await askedLive(d, keys[1]!), { kept: "too" });
    const rest = await readUntil(events, finished);
    expect(rest.filter(({ event }) => event === "result").map(({ id }) => id)).toEqual([2]);
    for (const server of [c, d]) expect(await server.stop()).toBe(0);
  });
});

describe("one server on the embedded store", () => {
  it("keeps acknowledged results through kill -9, resumes the stream, and stops while one is open", async () => {
    const dataDir = newFolder();
    const port = await freePort();
    const startServer = () => serve({ dataDir, port });
    const first = await startServer();
    const call = await withSecret(first);
    const keys = [await enroll(first, "one"), await enroll(first, "two"), await enroll(first, "three")];
    const query = await start(call, await hostIds(call), { timeout: "10m" });
    const events = await stream(first, query.id);
    await answer(first, keys[0]!, await askedLive(first, keys[0]!), { n: "1" });
    await readUntil(events, ({ event }) => event === "result");
    await answer(first, keys[1]!, await askedLive(first, keys[1]!), { n: "2" });
    await first.stop("SIGKILL");

    const second = await startServer();
    const again = await stream(second, query.id, 1);
    const [result] = (await readUntil(again, ({ event }) => event === "result")).slice(-1);
    expect(result).toMatchObject({ id: 2, data: { rows: [{ n: "2" }] } });
    await askedLive(second, keys[2]!);
    const began = performance.now();
    const code = second.stop();
    for await (const _ of again);
    expect(await code).toBe(0);
    // The server does not wait for streams, which would continue for ten minutes.
    expect(performance.now() - began).toBeLessThan(60_000);

    const third = await startServer();
    await answer(third, keys[2]!, await askedLive(third, keys[2]!), { n: "3" });
    const last = (await readUntil(await stream(third, query.id, 2), finished)).at(-1)!;
    expect(last.data.counts).toMatchObject({ targets: 3, answered: 3 });
    expect(await third.stop()).toBe(0);
  });

  it("cancels the query of an interrupted command, which reports it", async () => {
    const server = await serve();
    const call = await withSecret(server);
    const nodeKey = await enroll(server, "slow");
    const child = spawn(process.execPath, [binary, "query", "SELECT 1", "--hosts", "slow"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...cleanEnv(),
        SVC_KEYRING: "off",
        SVC_CONFIG_DIR: newFolder(),
        SVC_SERVER_URL: server.url,
        SVC_API_TOKEN: await tokenOf(server),
      },
    });
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const code = new Promise((resolve) => child.once("exit", resolve));
    await askedLive(server, nodeKey);
    // The command is reading the stream by now, or is about to; both must end well.
    await expect
      .poll(async () => (await call<{ live_queries: LiveQuery[] }>("GET", "/queries/live")).live_queries[0]?.status)
      .toBe("running");
    child.kill("SIGINT");
    expect(await code).toBe(130);
    expect(stderr).toMatch(
      /interrupted: the live query was cancelled\n0 answered, 0 error, 0 offline, 0 timed out, 1 cancelled\n$/,
    );
    const { live_queries } = await call<{ live_queries: (LiveQuery & { ended_by: string })[] }>("GET", "/queries/live");
    expect(live_queries[0]).toMatchObject({ status: "complete", ended_by: "cancelled", counts: { cancelled: 1 } });
    expect(await server.stop()).toBe(0);
  });

  it("accepts the JSON body of GET /queries/run", async () => {
    const server = await serve();
    await withSecret(server);
    const token = await tokenOf(server);
    const ask = (body: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        };
        const req = request(`${server.url}/api/v1/svc/queries/run`, { headers }, (res) => {
          let text = "";
          res.on("data", (chunk) => {
            text += chunk;
          });
          res.on("end", () => resolve({ status: res.statusCode ?? 0, text }));
        });
        req.on("error", reject);
        req.end(body);
      });
    const reply = await ask(JSON.stringify({ query_ids: [7], host_ids: [1] }));
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).live_query_results).toEqual([
      { query_id: 7, error: "query 7 was not found in the datastore" },
    ]);
    for (const bad of ["{", "{}", "[]", JSON.stringify({ query_ids: "x" })]) expect((await ask(bad)).status).toBe(400);
    expect(await server.stop()).toBe(0);
  });
});
