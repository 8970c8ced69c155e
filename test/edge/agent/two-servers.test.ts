import { beforeEach, describe, expect, test } from "vitest";
import type { Agent } from "../../../src/server/edge/agent/agent.ts";
import type { SettingsInput } from "../../../src/server/platform/core/settings/settings.ts";
import type { ServerStore } from "../../../src/server/platform/core/tables.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { createConfigReader } from "../../../src/server/settings/app-config/service.ts";
import { tables } from "../../../src/server/tables.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { makePolicy, makeTeam } from "../../support/make.ts";
import { agentCall } from "../../support/managed.ts";
import { startAgentSide } from "../../support/running.ts";
import { enrollment, makeSecret, type Reply, SECRET, type Send, SimulatedAgent, throughApp } from "./agents.ts";

/** The agent side of a second server on the same database; a deaf one receives no messages, as if each were late. */
async function second(
  t: TestApp,
  url: string,
  isDeaf = false,
): Promise<{ agent: Agent; store: ServerStore; send: Send; stop(): Promise<void> }> {
  const opened = await openPostgres({
    tables,
    url,
    cipher: createCipher(Buffer.alloc(32, 7)),
    log: t.services.log,
    create: true,
    poolSize: 4,
  });
  const store: ServerStore = isDeaf
    ? Object.assign(Object.create(opened), { listen: async () => async () => {} })
    : opened;
  const side = await startAgentSide({ ...t.services, store, config: await createConfigReader(store) });
  const { agent } = side;
  const send: Send = async (path, body) => {
    const endpoint = path.replace("/api/v1/qengine/", "") as Parameters<Agent["replyTo"]>[0];
    const reply = await agent.replyTo(endpoint, {
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
      await side.stop();
      await opened.close();
    },
  };
}

const HOUR = 3_600_000;
const POLICY = "svc_policy_query_";
const LABEL = "svc_label_query_";
type Queries = Record<string, string>;

describe("two servers on one database", () => {
  let t: TestApp;
  let one: Send;
  let two: Awaited<ReturnType<typeof second>>;
  async function start(settings: SettingsInput = {}) {
    t = await startApp({ engine: "postgres", settings: { max_jitter_percent: 0, ...settings } });
    one = throughApp(t);
    await makeSecret(t);
    two = await second(t, t.databaseUrl!);
  }
  beforeEach(async () => {
    await start();
    return () => two.stop();
  });
  const config = async (send: Send, node_key: string) => (await send("/api/v1/qengine/config", { node_key })).json;

  test("a key that one server replaced becomes invalid on the other", async () => {
    const first = (await one("/api/v1/qengine/enroll", enrollment())).json.node_key;
    expect((await config(two.send, first)).error).toBeUndefined();
    const next = (await one("/api/v1/qengine/enroll", enrollment())).json.node_key;
    await expect.poll(async () => (await config(two.send, first)).node_invalid).toBe(true);
    expect((await config(two.send, next)).error).toBeUndefined();
  });

  test("the key of a moved host becomes invalid on the server that has cached it", async () => {
    await two.stop();
    await t.close();
    await start({ global_reenroll: "move" });
    const team = await makeTeam(t);
    await makeSecret(t, "for-the-team", team.id);
    const old = (await one("/api/v1/qengine/enroll", enrollment({ enroll_secret: "for-the-team" }))).json.node_key;
    expect((await config(two.send, old)).error).toBeUndefined();
    const agent = { enroll_secret: SECRET, hardware_uuid: "UUID-1", qengine_identifier: "host-1" };
    expect((await agentCall(t, "/enroll", agent)).status).toBe(200);
    await expect.poll(async () => (await config(two.send, old)).node_invalid).toBe(true);
    await expect.poll(async () => (await config(one, old)).node_invalid).toBe(true);
  });

  test("after a transfer on one, the other refuses the old team's secret immediately, and reports it once", async () => {
    const [from, to] = [await makeTeam(t), await makeTeam(t)];
    await makeSecret(t, "from", from.id);
    const asks = (send: Send) => send("/api/v1/qengine/enroll", enrollment({ enroll_secret: "from" }));
    const key = (await asks(two.send)).json.node_key;
    const { id } = (await t.store.hosts.first({}))!;
    expect((await t.post("/hosts/transfer", { team_id: to.id, hosts: [id] })).status).toBe(200);
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => asks(i % 2 ? one : two.send)));
    expect(replies.map(({ json }) => json.error)).toEqual(replies.map(() => expect.stringContaining("another team")));
    expect((await config(two.send, key)).error, "the machine itself goes on").toBeUndefined();
    expect(await t.store.activities.count({ op: "eq", column: "type", value: "host_enrollment_rejected" })).toBe(1);
  });

  test("queries scheduled on one are sent by the other; results sent to either are in one report", async () => {
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

  test("concurrent enrollments of the same new host on both: one row, one valid key", async () => {
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

  const read = async (send: Send, node_key: string): Promise<Queries> =>
    (await send("/api/v1/qengine/distributed/read", { node_key })).json.queries;
  /** Returns results for everything that was sent: with a row, or without any. */
  const answer = async (send: Send, node_key: string, queries: Queries, hasRows: boolean) => {
    const names = Object.keys(queries);
    const body = {
      node_key,
      queries: Object.fromEntries(names.map((name) => [name, hasRows ? [{ "1": "1" }] : []])),
      statuses: Object.fromEntries(names.map((name) => [name, 0])),
    };
    expect((await send("/api/v1/qengine/distributed/write", body)).text).toBe("{}");
  };
  const enrolled = async (): Promise<string> => {
    const { node_key } = (await one("/api/v1/qengine/enroll", enrollment())).json;
    await t.store.hosts.update({ where: { op: "all" }, set: { refetch_requested: false } });
    await t.store.notify("svc_hosts", "*");
    return node_key;
  };
  const results = async () => {
    const [row] = await t.store.hostPolicies.list();
    return { passing: row?.passing ?? [], failing: row?.failing ?? [] };
  };

  test.each([
    ["that hears of changes", false],
    ["to which every message is late", true],
  ])(
    "results of queries from one can be sent to another %s: none is lost, none counts for a changed query",
    async (_, isDeaf) => {
      const other = await second(t, t.databaseUrl!, isDeaf);
      try {
        const key = await enrolled();
        // The other server has read policies and labels before the changes that follow.
        await answer(other.send, key, await read(other.send, key), true);
        const policy = await makePolicy(t);
        expect(Object.keys(await read(one, key)).filter((name) => name.startsWith(POLICY))).toEqual([
          POLICY + policy.id,
        ]);
        await answer(other.send, key, await read(one, key), true);
        expect(await results()).toEqual({ passing: [policy.result_id], failing: [] });
        expect(await read(one, key)).toEqual({});

        t.clock.advance(HOUR + 1);
        const old = await read(one, key);
        expect((await t.patch(`/policies/${policy.id}`, { query: "SELECT 2;" })).status).toBe(200);
        await answer(other.send, key, old, true);
        const changed = (await t.store.policies.get(policy.id))!;
        expect((await results()).passing).not.toContain(changed.result_id);
        const again = await read(one, key);
        expect(again[POLICY + policy.id]).toBe("SELECT 2;");
        await answer(other.send, key, again, false);
        expect(await results()).toEqual({ passing: [], failing: [changed.result_id] });
        expect(await read(one, key)).toEqual({});
      } finally {
        await other.stop();
      }
    },
  );

  test("results of a label's earlier query add no members; a label that a server does not know yet gets its members", async () => {
    const deaf = await second(t, t.databaseUrl!, true);
    try {
      const key = await enrolled();
      await answer(deaf.send, key, await read(deaf.send, key), false);
      const spec = (query: string) => t.post("/spec/labels", { specs: [{ name: "some", query }] });
      expect((await spec("SELECT 1;")).status).toBe(200);
      const { id } = (await t.store.labels.first({ where: { op: "eq", column: "name", value: "some" } }))!;
      const isMember = async () =>
        (await t.store.labelMembers.list()).some(({ label_id, host_id }) => label_id === id && host_id === 1);
      t.clock.advance(HOUR + 1);
      const asked = await read(one, key);
      expect(asked[LABEL + id]).toBe("SELECT 1;");
      await answer(deaf.send, key, asked, true);
      expect(await isMember()).toBe(true);

      t.clock.advance(HOUR + 1);
      const old = await read(one, key);
      expect((await spec("SELECT 2;")).status).toBe(200);
      await answer(deaf.send, key, old, true);
      expect(await isMember()).toBe(false);
      const again = await read(one, key);
      expect(again[LABEL + id]).toBe("SELECT 2;");
      await answer(deaf.send, key, again, true);
      expect(await isMember()).toBe(true);
      expect(await read(one, key)).toEqual({});
    } finally {
      await deaf.stop();
    }
  });

  test("a host's intervals and platform that one server learns are known to the other", async () => {
    const options = (distributed_interval: number) =>
      t.patch("/config", { agent_options: { config: { options: { distributed_interval, config_refresh: 9000 } } } });
    await options(10);
    const key = await enrolled();
    await config(two.send, key);
    await options(3000);
    await expect.poll(async () => (await config(one, key)).options.distributed_interval).toBe(3000);
    const onlineFor = async () => {
      await read(two.send, key);
      await two.agent.flush();
      const [seen] = await t.store.hostSeen.list();
      return (Date.parse(seen!.online_until) - Date.parse(seen!.seen_time)) / 1000;
    };
    await expect.poll(onlineFor).toBe(3060);
    // Changed back: what this server sent last is not what the host has now.
    await options(10);
    await expect.poll(async () => (await config(two.send, key)).options.distributed_interval).toBe(10);
    await expect.poll(onlineFor).toBe(70);
    expect((await t.store.hosts.get(1))!.distributed_interval).toBe(10);
  });

  test("details that one received are not requested by the other; refetch, options and deletion reach both", async () => {
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
