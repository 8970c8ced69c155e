import { beforeEach, describe, expect, test } from "vitest";
import { type Agent, startAgent } from "../../src/server/agent/start.ts";
import { createConfigReader } from "../../src/server/app-config/service.ts";
import { createCipher } from "../../src/server/core/cipher.ts";
import { openPostgres } from "../../src/server/store/postgres/open.ts";
import { type ServerStore, tables } from "../../src/server/tables.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { enrollment, makeSecret, type Reply, type Send, SimulatedAgent, throughApp } from "./agents.ts";

/** A second server's agent side on the same database. */
async function second(
  t: TestApp,
  url: string,
): Promise<{ agent: Agent; store: ServerStore; send: Send; stop(): Promise<void> }> {
  const store = await openPostgres({
    tables,
    url,
    cipher: createCipher(Buffer.alloc(32, 7)),
    log: t.services.log,
    create: true,
    poolSize: 4,
  });
  const agent = await startAgent({ ...t.services, store, config: await createConfigReader(store) });
  const send: Send = async (path, body) => {
    const endpoint = path.replace("/api/v1/qengine/", "") as Parameters<Agent["handle"]>[0];
    const reply = await agent.handle(endpoint, {
      body: Buffer.from(JSON.stringify(body)),
      authorization: undefined,
      address: "127.0.0.1",
    });
    return { status: reply.status, text: reply.body, json: JSON.parse(reply.body), headers: {} } satisfies Reply;
  };
  return {
    agent,
    store,
    send,
    async stop() {
      await agent.stop();
      await store.close();
    },
  };
}

describe("two servers on one database", () => {
  let t: TestApp;
  let one: Send;
  let two: Awaited<ReturnType<typeof second>>;
  beforeEach(async () => {
    t = await startApp({ engine: "postgres", settings: { max_jitter_percent: 0 } });
    one = throughApp(t);
    await makeSecret(t);
    two = await second(t, t.databaseUrl!);
    return () => two.stop();
  });
  const config = async (send: Send, node_key: string) => (await send("/api/v1/qengine/config", { node_key })).json;

  test("a key that one replaced dies on the other", async () => {
    const first = (await one("/api/v1/qengine/enroll", enrollment())).json.node_key;
    expect((await config(two.send, first)).error).toBeUndefined();
    const next = (await one("/api/v1/qengine/enroll", enrollment())).json.node_key;
    await expect.poll(async () => (await config(two.send, first)).node_invalid).toBe(true);
    expect((await config(two.send, next)).error).toBeUndefined();
  });

  test("what one schedules, the other sends; answers to either are one report", async () => {
    const key = (await one("/api/v1/qengine/enroll", enrollment())).json.node_key;
    expect((await config(two.send, key)).packs).toBeUndefined();
    const body = { name: "q", query: "SELECT 1", interval: 60 };
    const { query } = (await (await t.post("/queries", body)).json()) as { query: { id: number } };
    const sent = async () => Object.keys((await config(two.send, key)).packs?.Global?.queries ?? {});
    await expect.poll(sent).toEqual(["q"]);
    const rows = async () => {
      const { results } = (await (await t.get(`/queries/${query.id}/report`)).json()) as {
        results: { columns: object }[];
      };
      return results.map(({ columns }) => columns);
    };
    for (const [i, send] of [two.send, one].entries()) {
      const data = [{ name: "pack/Global/q", action: "snapshot", snapshot: [{ a: String(i) }], unixTime: 1 }];
      await send("/api/v1/qengine/log", { node_key: key, log_type: "result", data });
      await expect.poll(rows).toEqual([{ a: String(i) }]);
    }
    await t.patch(`/queries/${query.id}`, { interval: 0 });
    await expect.poll(sent).toEqual([]);
  });

  test("both enroll the same new host at once: one row, one key that works", async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two.send)("/api/v1/qengine/enroll", enrollment())),
    );
    expect(await t.store.hosts.count()).toBe(1);
    const works: boolean[] = [];
    for (const { json } of replies)
      works.push((await two.send("/api/v1/qengine/config", json)).json.error === undefined);
    await expect
      .poll(async () => {
        const now = await Promise.all(replies.map(({ json }) => config(two.send, json.node_key)));
        return now.filter(({ error }) => error === undefined).length;
      })
      .toBe(1);
  });

  test("details that one took in are not asked for by the other; refetch, options and deletion reach both", async () => {
    const agent = new SimulatedAgent(one, "linux");
    await agent.enroll();
    const other = new SimulatedAgent(two.send, "linux");
    other.key = agent.key;
    expect(Object.keys((await other.read()).queries).length).toBeGreaterThan(10);
    await agent.poll();
    expect((await other.read()).queries).toEqual({});
    expect((await agent.read()).queries).toEqual({});

    await t.post("/hosts/1/refetch");
    await expect.poll(async () => Object.keys((await other.read()).queries).length).toBeGreaterThan(10);
    await other.poll();
    expect((await other.read()).queries).toEqual({});

    await t.patch("/config", { agent_options: { config: { options: { pack_delimiter: "X" } } } });
    await expect.poll(() => config(two.send, agent.key)).toEqual({ options: { pack_delimiter: "X" } });

    await t.delete("/hosts/1");
    await expect.poll(async () => (await config(two.send, agent.key)).node_invalid).toBe(true);
    await expect.poll(async () => (await config(one, agent.key)).node_invalid).toBe(true);
  });
});
