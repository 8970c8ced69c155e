import { beforeEach, describe, expect, test } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam } from "../../support/make.ts";
import { agentCall } from "../../support/managed.ts";
import { startAgentSide } from "../../support/running.ts";
import { enroll, enrollment, makeSecret, SECRET, type Send, throughApp } from "./agents.ts";

const ENROLL = "/api/v1/qengine/enroll";

describe.each(bothEngines)("enrollment on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  const start = async (options: Parameters<typeof startApp>[0] = {}) => {
    t = await startApp({ engine, ...options });
    send = throughApp(t);
    await makeSecret(t);
  };
  beforeEach(() => start());
  const host = async () => (await t.store.hosts.list())[0]!;

  test("enrolling again keeps the host, replaces the key immediately and fills only empty fields", async () => {
    const first = await enroll(send, {
      host_details: { system_info: { hostname: "h1", uuid: "", hardware_serial: "S1" } },
    });
    const before = await host();
    t.clock.advance(60_000);
    const second = await enroll(send, {
      host_details: { system_info: { hostname: "h2", uuid: "NEW", hardware_serial: "OTHER" } },
    });
    expect(await t.store.hosts.count()).toBe(1);
    expect(await host()).toMatchObject({
      id: before.id,
      hostname: "h2",
      uuid: "NEW",
      hardware_serial: "S1",
      created_at: before.created_at,
      last_enrolled_at: t.clock.iso(),
    });
    const read = (node_key: string) => send("/api/osquery/distributed/read", { node_key });
    expect((await read(first)).json).toEqual({ error: expect.any(String), node_invalid: true });
    expect((await read(second)).json.error).toBeUndefined();
  });

  const names = async () => (await t.store.hosts.list()).map(({ identifier }) => identifier).sort();

  test("an identifier in another letter case is the same host, for both agents, also concurrently", async () => {
    const uuid = "1A2B3C4D-1111-2222-3333-ABCDEFABCDEF";
    const spelled = [uuid, uuid.toLowerCase(), uuid.replace("A", "a")];
    await Promise.all(spelled.map((host_identifier) => enroll(send, { host_identifier })));
    const managed = { enroll_secret: SECRET, hardware_uuid: uuid, hostname: "h1", platform: "ubuntu" };
    expect((await agentCall(t, "/enroll", managed)).status).toBe(200);
    expect((await agentCall(t, "/enroll", { ...managed, qengine_identifier: spelled[2] })).status).toBe(200);
    expect(await names()).toEqual([uuid.toLowerCase()]);
    expect(await t.store.managedAgents.count()).toBe(1);
    await enroll(send, { host_identifier: "stra\u00dfe" });
    await enroll(send, { host_identifier: "STRASSE" });
    expect(await names()).toEqual([uuid.toLowerCase(), "strasse", "stra\u00dfe"]);
  });

  test("hosts of earlier versions are found by their identifiers, and two that differ only in letter case stay two", async () => {
    const old = await makeHost(t, { identifier: "UUID-7" });
    await enroll(send, { host_identifier: "uuid-7" });
    expect(await t.store.hosts.list()).toMatchObject([{ id: old.id, identifier: "uuid-7" }]);
    const [first, second] = [await makeHost(t, { identifier: "TWIN" }), await makeHost(t, { identifier: "Twin" })];
    const keyOf = async (id: number) => (await t.store.hosts.get(id))!.node_key_hash;
    for (const [host_identifier, host] of [
      ["Twin", second],
      ["TWIN", first],
      ["Twin", second],
      ["TWIN", first],
    ] as const) {
      const others = await Promise.all([old, first, second].filter((one) => one !== host).map(({ id }) => keyOf(id)));
      const before = await keyOf(host.id);
      await enroll(send, { host_identifier });
      expect(await keyOf(host.id)).not.toBe(before);
      const after = [old, first, second].filter((one) => one !== host).map(({ id }) => keyOf(id));
      expect(await Promise.all(after)).toEqual(others);
    }
    expect(await names()).toEqual(["TWIN", "twin", "uuid-7"]);
  });

  test("the license's number of devices limits only new hosts", async () => {
    Object.assign(t.services.license, { device_count: 2 });
    await t.agent.stop();
    const { agent, stop } = await startAgentSide(t.services);
    const ask = async (host_identifier: string) =>
      JSON.parse(
        (
          await agent.replyTo("enroll", {
            body: Buffer.from(JSON.stringify(enrollment({ host_identifier }))),
            authorization: undefined,
            address: "192.0.2.1",
          })
        ).body,
      );
    const replies = await Promise.all(["a", "b", "c", "d"].map(ask));
    expect(replies.filter(({ node_key }) => node_key)).toHaveLength(2);
    expect(replies.find(({ error }) => error).error).toContain("maximum number of hosts reached: 2");
    expect(await t.store.hosts.count()).toBe(2);
    expect((await ask((await host()).identifier)).node_key).toBeDefined();
    await stop();
  });

  test("many concurrent enrollments: one row per identifier, and the last key of each works", async () => {
    const names = Array.from({ length: 60 }, (_, i) => `host-${i % 20}`);
    const keys = await Promise.all(names.map((host_identifier) => enroll(send, { host_identifier })));
    expect(await t.store.hosts.count()).toBe(20);
    expect(await t.store.labelMembers.count()).toBe(20);
    const replies = await Promise.all(keys.map((node_key) => send("/api/osquery/config", { node_key })));
    expect(replies.filter(({ json }) => json.error === undefined)).toHaveLength(20);
    expect(replies.filter(({ json }) => json.node_invalid === true)).toHaveLength(40);
  });

  if (!rulesEngines.includes(engine)) return;

  test("a valid secret creates a host with the agent's details, as a member of All Hosts, just seen", async () => {
    const { status, json } = await send(ENROLL, enrollment());
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["node_key"]);
    expect(json.node_key).toMatch(/^[\w-]{43}$/);

    const row = await host();
    expect(row).toMatchObject({
      identifier: "host-1",
      hostname: "h1.example",
      computer_name: "h1",
      display_name: "h1",
      uuid: "UUID-1",
      hardware_serial: "S1",
      platform: "ubuntu",
      os_version: "Ubuntu 22.04.4 LTS",
      qengine_version: "5.12.1",
      memory: 17_179_869_184,
      team_id: null,
      refetch_requested: true,
      detail_updated_at: null,
      label_updated_at: null,
      created_at: t.clock.iso(),
      last_enrolled_at: t.clock.iso(),
    });
    expect(JSON.stringify(row)).not.toContain(json.node_key);
    expect(await t.store.osVersions.get(row.os_version_id!)).toMatchObject({ name: "Ubuntu", platform: "ubuntu" });
    expect(await t.store.hostSeen.get(row.id)).toMatchObject({ seen_time: t.clock.iso() });
    const shown = await (await t.get(`/hosts/${row.id}`)).json();
    expect(shown).toMatchObject({ host: { status: "online", labels: [{ name: "All Hosts" }] } });
  });

  test("the first enrollment is an activity of the service; the second is not", async () => {
    await enroll(send);
    await enroll(send);
    const { activities } = (await (await t.get("/activities")).json()) as { activities: { type: string }[] };
    const enrolled = activities.filter(({ type }) => type === "svc_enrolled");
    expect(enrolled).toHaveLength(1);
    expect(enrolled[0]).not.toHaveProperty("actor_id");
    expect(enrolled[0]).toMatchObject({
      svc_initiated: true,
      details: { host_id: (await host()).id, host_serial: "S1", host_display_name: "h1" },
    });
  });

  test.each([
    ["a wrong secret", { enroll_secret: "wrong" }],
    ["an empty secret", { enroll_secret: "" }],
    ["a secret that is no text", { enroll_secret: { a: 1 } }],
    ["no identifier", { host_identifier: "" }],
    ["an identifier of blanks", { host_identifier: "   " }],
  ])("%s is refused with error and node_invalid", async (_what, more) => {
    const { status, json } = await send(ENROLL, enrollment(more));
    expect(status).toBe(401);
    expect(json).toEqual({ error: expect.stringMatching(/^enroll failed: /), node_invalid: true });
    expect(await t.store.hosts.count()).toBe(0);
  });

  test("the platform type alone does not replace a known platform", async () => {
    await enroll(send);
    await enroll(send, { host_details: undefined });
    expect((await host()).platform).toBe("ubuntu");
    await enroll(send, { host_identifier: "bare", host_details: undefined, platform_type: "21" });
    expect((await t.store.hosts.list())[1]).toMatchObject({ platform: "darwin", hostname: "" });
  });

  test("the secret determines the team of a new host; a global one keeps a known host in its team", async () => {
    const team = await makeTeam(t);
    await makeSecret(t, "team-secret", team.id);
    await enroll(send, { enroll_secret: "team-secret" });
    expect((await host()).team_id).toBe(team.id);
    await enroll(send);
    expect((await host()).team_id).toBe(team.id);
  });

  test("the host has the intervals of its configuration from the start, so that fetching it need not write", async () => {
    const config = { options: { distributed_interval: 30, logger_tls_period: 20, config_refresh: 300 } };
    const overrides = { platforms: { linux: { options: { distributed_interval: 40 } } } };
    expect((await t.patch("/config", { agent_options: { config, overrides } })).status).toBe(200);
    const linux = await enroll(send);
    expect(await host()).toMatchObject({ distributed_interval: 40, logger_tls_period: 0, config_tls_refresh: 0 });
    const { id, revision } = await host();
    await send("/api/v1/qengine/config", { node_key: linux });
    expect((await t.store.hosts.get(id))!.revision).toBe(revision);

    await enroll(send, { host_identifier: "mac", host_details: { os_version: { name: "macOS", platform: "darwin" } } });
    const mac = (await t.store.hosts.list()).find(({ identifier }) => identifier === "mac")!;
    expect(mac).toMatchObject({ distributed_interval: 30, logger_tls_period: 20, config_tls_refresh: 300 });
    expect((await t.store.hostSeen.get(mac.id))!.online_until).toBe(new Date(t.clock.now() + 90_000).toISOString());
  });

  test.each([
    ["uuid", "uuid-1"],
    ["instance", "instance-1"],
    ["hostname", "h1.example"],
    ["provided", "host-1"],
  ] as const)("host_identifier=%s uses %s", async (host_identifier, identifier) => {
    await t.close();
    await start({ settings: { host_identifier } });
    await enroll(send);
    expect((await host()).identifier).toBe(identifier);
    await enroll(send, { host_identifier: "fallback", host_details: {} });
    expect((await t.store.hosts.list()).map((row) => row.identifier)).toContain("fallback");
  });

  test("during the cooldown a host cannot enroll again, and keeps its key", async () => {
    await t.close();
    await start({ settings: { enroll_cooldown: "5m" } });
    const key = await enroll(send);
    t.clock.advance(4 * 60_000);
    const { json } = await send(ENROLL, enrollment());
    expect(json.error).toContain("host identified by host-1 enrolling too often");
    expect((await send("/api/osquery/config", { node_key: key })).json.error).toBeUndefined();
    t.clock.advance(61_000);
    await enroll(send);
  });

  test("each kind of agent has its own cooldown", async () => {
    await t.close();
    await start({ settings: { enroll_cooldown: "5m" } });
    const managed = { enroll_secret: SECRET, hardware_uuid: "machine-1", qengine_identifier: "host-1" };
    expect((await agentCall(t, "/enroll", managed)).status).toBe(200);
    await enroll(send);

    // A reinstalled machine: the managed agent enrolls first, and then starts the query engine.
    t.clock.advance(301_000);
    expect((await agentCall(t, "/enroll", managed)).status).toBe(200);
    t.clock.advance(1_000);
    await enroll(send);

    const { status, json, headers } = await agentCall(t, "/enroll", managed);
    expect(status).toBe(429);
    expect(json.errors[0].reason).toBe("enroll host failed: host identified by host-1 enrolling too often");
    expect(headers.get("retry-after")).toBe("299");
    expect((await send(ENROLL, enrollment())).json.error).toContain("enrolling too often");
    t.clock.advance(299_000);
    expect((await agentCall(t, "/enroll", managed)).status).toBe(200);
    expect(await t.store.hosts.count()).toBe(1);
  });

  test("invalid secrets are limited by address; valid ones and loopback are not limited", async () => {
    const from = async (address: string, secret: string) =>
      t.agent.replyTo("enroll", {
        body: Buffer.from(JSON.stringify(enrollment({ enroll_secret: secret }))),
        authorization: undefined,
        address,
      });
    for (let i = 0; i < 20; i++) expect((await from("192.0.2.7", "bad")).status).toBe(401);
    const limited = await from("192.0.2.7", "bad");
    expect(limited.status).toBe(429);
    expect(JSON.parse(limited.body)).toEqual({ error: expect.stringContaining("retry after: 60s") });
    expect(limited.retryAfter).toBe(60);
    expect((await from("192.0.2.7", "enroll-me-please")).status).toBe(200);
    expect((await from("192.0.2.8", "bad")).status).toBe(401);
    for (let i = 0; i < 30; i++) expect((await from("127.0.0.1", "bad")).status).toBe(401);
    t.clock.advance(60_000);
    expect((await from("192.0.2.7", "bad")).status).toBe(401);
  });
});
