// A secret of one team gives no access to a host of another team: both agents, both stores.
import { pino } from "pino";
import { beforeEach, describe, expect, it } from "vitest";
import { judgeReenrollment } from "../../../src/server/hosts/enrollment/rule.ts";
import type { SettingsInput } from "../../../src/server/platform/core/settings/settings.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeOperation, makeTeam } from "../../support/make.ts";
import { agentCall } from "../../support/managed.ts";
import { enrollment, makeSecret, SECRET, type Send, throughApp } from "./agents.ts";

const TOKEN = "page-token";
const keys = { a: "secret-of-a", b: "secret-of-b", global: SECRET } as const;
type Secret = keyof typeof keys;

/** The names with which an agent can claim the host. */
const names = { identifier: "host-1", uuid: "11111111-2222-3333-4444-555555555555", serial: "SERIAL-1" } as const;
type NamedBy = keyof typeof names;

describe("the rule", () => {
  const judge = (hostTeam: number | null, secretTeam: number | null, more = {}) =>
    judgeReenrollment({ hostTeam, secretTeam, isProved: false, globalSecret: "keep", ...more });

  it("lets a team's own secret enroll its hosts again, and no other team's secret", () => {
    expect([judge(1, 1), judge(null, null)]).toEqual(["stays", "stays"]);
    expect([judge(1, 2), judge(null, 2)]).toEqual(["refused", "refused"]);
    expect([judge(1, 2, { isProved: true }), judge(null, 2, { isProved: true })]).toEqual(["moves", "moves"]);
  });

  it("follows the setting for a global secret", () => {
    const globally = (globalSecret: string) => judge(1, null, { globalSecret });
    expect(["keep", "move", "refuse"].map(globally)).toEqual(["stays", "moves", "refused"]);
    expect(judge(null, 2, { globalSecret: "move" })).toBe("refused");
  });
});

describe.each(rulesEngines)("hosts that enroll again, on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  let lines: string[];
  let a: { id: number; name: string };
  let b: { id: number; name: string };

  async function start(settings: SettingsInput = {}) {
    lines = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    t = await startApp({ engine, log, settings });
    send = throughApp(t);
    [a, b] = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    await makeSecret(t, keys.a, a.id);
    await makeSecret(t, keys.b, b.id);
    await makeSecret(t);
  }
  beforeEach(() => start());

  const stock = (secret: Secret, named: NamedBy = "identifier") =>
    send(
      "/api/v1/qengine/enroll",
      enrollment({
        enroll_secret: keys[secret],
        host_identifier: names[named],
        host_details: {
          osquery_info: { uuid: names.uuid, version: "5.12.1" },
          system_info: { hostname: "h1.example", uuid: names.uuid, hardware_serial: names.serial, computer_name: "h1" },
          os_version: { name: "Ubuntu", version: "22.04", platform: "ubuntu" },
        },
      }),
    );
  /** A managed agent without an identifier is identified by the machine's UUID. */
  const managed = (secret: Secret, named: NamedBy = "identifier") =>
    agentCall(t, "/enroll", {
      enroll_secret: keys[secret],
      hardware_uuid: names.uuid,
      hardware_serial: names.serial,
      hostname: "h1.example",
      platform: "ubuntu",
      ...(named === "uuid" ? {} : { qengine_identifier: names[named] }),
    });

  /** A machine of the secret's team with both agents, a device page, an escrowed key, and a pending lock and script. */
  async function machine(secret: Secret, named: NamedBy = "identifier") {
    const node = (await stock(secret, named)).json.node_key as string;
    const agent = (await managed(secret, named)).json.agent_node_key as string;
    const [host] = await t.store.hosts.list();
    const id = host!.id;
    expect(await t.store.hosts.count(), "both agents are one host").toBe(1);
    expect((await agentCall(t, "/device_token", { agent_node_key: agent, device_auth_token: TOKEN })).status).toBe(200);
    const luks = { agent_node_key: agent, passphrase: "disk-passphrase", salt: "salt", key_slot: 1 };
    expect((await agentCall(t, "/luks_data", luks)).status).toBe(204);
    expect((await t.post(`/hosts/${id}/lock`)).status).toBe(200);
    await t.store.hostActions.update({ where: eq("id", id), set: { pin: "123456" } });
    await makeOperation(t, id, { content: "echo $SECRET" });
    return { id, node, agent };
  }

  const lives = async ({ node, agent }: { node: string; agent: string }) => ({
    node: (await send("/api/v1/qengine/config", { node_key: node })).json.error === undefined,
    agent: (await agentCall(t, "/config", { agent_node_key: agent })).status === 200,
    page: (await t.raw(`/api/v1/svc/device/${TOKEN}`)).status === 200,
  });
  const all = { node: true, agent: true, page: true };

  async function entrusted(id: number) {
    const [key, action] = [await t.store.hostDiskEncryption.get(id), await t.store.hostActions.get(id)];
    const runs = await t.store.operations.pick(["state"], { where: eq("host_id", id) });
    return {
      key: key?.key ?? null,
      pin: action?.pin ?? null,
      pending: action?.pending ?? "",
      scripts: runs.map(({ state }) => state).sort(),
    };
  }
  const everything = { key: "disk-passphrase", pin: "123456", pending: "lock", scripts: ["queued", "queued"] };

  async function activities(type: string) {
    const reply = (await (await t.get(`/activities?activity_type=${type}`)).json()) as {
      activities: { svc_initiated: boolean; details: Record<string, unknown> }[];
    };
    return reply.activities;
  }

  const agents = { query_engine: stock, managed_agent: managed } as const;
  const cases = (["query_engine", "managed_agent"] as const).flatMap((agent) =>
    (["identifier", "uuid", "serial"] as const).flatMap((named) =>
      (["b", "global"] as const).map((owner) => ({ agent, named, owner })),
    ),
  );

  it.each(cases)(
    "refuse a $agent with another team's secret, by $named, for a host of $owner",
    async ({ agent, named, owner }) => {
      const before = await machine(owner, named);
      const row = await t.store.hosts.get(before.id);
      const { status, json } = await agents[agent]("a", named);
      expect(status).toBe(agent === "query_engine" ? 401 : 403);
      const text = agent === "query_engine" ? json.error : json.errors[0].reason;
      expect(text).toMatch(/^enroll (host )?failed: .*belongs to another team.*transfer it.*delete it/);
      expect(text).not.toMatch(/team \d|"[AB]"/);
      expect(json.node_key ?? json.agent_node_key).toBeUndefined();

      expect(await t.store.hosts.count()).toBe(1);
      expect(await t.store.hosts.get(before.id)).toEqual(row);
      expect(await lives(before)).toEqual(all);
      expect(await entrusted(before.id)).toEqual(everything);
      expect(await activities("transferred_hosts")).toEqual([]);

      const [entry, ...others] = await activities("host_enrollment_rejected");
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ svc_initiated: true });
      expect(entry!.details).toEqual({
        host_id: before.id,
        host_display_name: row!.display_name,
        host_serial: names.serial,
        host_uuid: names.uuid,
        platform: "ubuntu",
        enrollment_plane: agent,
        reason: `an enroll secret of team ${a.id} was used, but the host is in ${owner === "b" ? `team ${b.id}` : "no team"}`,
      });
      expect(lines.join("")).toContain("refused to enroll a known host");
      expect(lines.join("")).not.toContain(keys.a);
      const metrics = await t.services.metrics.registry.metrics();
      expect(metrics).toContain(`svc_enrollments_refused_total{agent="${agent}"} 1`);
    },
  );

  it("report retrying agents once a day, for each agent and secret", async () => {
    await machine("b");
    const rejected = async () => (await activities("host_enrollment_rejected")).length;
    for (let i = 0; i < 5; i++) await stock("a");
    expect(await rejected()).toBe(1);
    await managed("a");
    await managed("a");
    expect(await rejected()).toBe(2);
    t.clock.advance(25 * 3_600_000);
    await stock("a");
    expect(await rejected()).toBe(3);
  });

  it.each(["query_engine", "managed_agent"] as const)(
    "with %s: a re-install within the team works without help, and ends the old key of that agent",
    async (agent) => {
      const before = await machine("b");
      expect((await agents[agent]("b")).status).toBe(200);
      expect(await lives(before)).toEqual({
        ...all,
        [agent === "query_engine" ? "node" : "agent"]: false,
      });
      expect(await t.store.hosts.get(before.id)).toMatchObject({ team_id: b.id });
      expect((await entrusted(before.id)).key, "what is escrowed stays with the team").toBe("disk-passphrase");
      expect(await activities("transferred_hosts")).toEqual([]);
    },
  );

  it.each(["query_engine", "managed_agent"] as const)(
    "with %s: a global secret enrolls a host again in its team",
    async (agent) => {
      const before = await machine("b");
      expect((await agents[agent]("global")).status).toBe(200);
      expect(await t.store.hosts.get(before.id)).toMatchObject({ team_id: b.id });
      expect(await activities("transferred_hosts")).toEqual([]);
    },
  );

  it.each(["query_engine", "managed_agent"] as const)(
    "with %s: after a transfer by an administrator, the other team's secret is accepted",
    async (agent) => {
      const { id } = await machine("b");
      expect((await agents[agent]("a")).status).not.toBe(200);
      expect((await t.post("/hosts/transfer", { team_id: a.id, hosts: [id] })).status).toBe(200);
      expect((await agents[agent]("a")).status).toBe(200);
      expect((await agents[agent]("b")).status, "the old team's secret is a stranger's now").not.toBe(200);
      expect(await t.store.hosts.get(id)).toMatchObject({ team_id: a.id });
    },
  );

  it.each(["query_engine", "managed_agent"] as const)(
    "with %s: a move by a global secret is an activity, ends every other key and removes escrowed data",
    async (agent) => {
      await t.close();
      await start({ global_reenroll: "move" });
      const before = await machine("b");
      const { status, json } = await agents[agent]("global");
      expect(status).toBe(200);
      const now = { node: before.node, agent: before.agent, ...(json.node_key ? { node: json.node_key } : {}) };
      if (json.agent_node_key) now.agent = json.agent_node_key;
      expect(await lives(before)).toEqual({ node: false, agent: false, page: false });
      expect(await lives(now)).toEqual({
        node: agent === "query_engine",
        agent: agent === "managed_agent",
        page: false,
      });
      expect(await t.store.hosts.get(before.id)).toMatchObject({ team_id: null, policy_updated_at: null });
      expect(await entrusted(before.id)).toEqual({
        key: null,
        pin: null,
        pending: "",
        scripts: ["cancelled", "cancelled"],
      });
      const [entry, ...others] = await activities("transferred_hosts");
      expect(others).toEqual([]);
      expect(entry).toMatchObject({
        svc_initiated: true,
        details: { team_id: null, team_name: null, host_ids: [before.id] },
      });
    },
  );

  it("find the managed agent's host by UUID in the secret's team before another team's host with that identifier", async () => {
    expect((await stock("b")).status).toBe(200);
    // Some other machine of team A uses the UUID of team B's machine as its identifier.
    const squatter = enrollment({ enroll_secret: keys.a, host_identifier: names.uuid });
    expect((await send("/api/v1/qengine/enroll", squatter)).status).toBe(200);
    const [own, other] = await t.store.hosts.list();
    expect([own!.team_id, other!.team_id]).toEqual([b.id, a.id]);
    for (let enrollments = 0; enrollments < 2; enrollments++) {
      const { status, json } = await managed("b", "uuid");
      expect([status, json.agent_node_key]).toEqual([200, expect.any(String)]);
    }
    expect((await t.store.managedAgents.list()).map(({ id }) => id)).toEqual([own!.id]);
    expect(await t.store.hosts.get(own!.id)).toMatchObject({ identifier: names.identifier, team_id: b.id });
    expect(await t.store.hosts.get(other!.id)).toEqual(other);
    // Two hosts of the team with that UUID: neither is known to be the machine.
    await t.store.hosts.update({ where: eq("id", other!.id), set: { team_id: b.id, identifier: "copy" } });
    await t.store.hosts.update({ where: eq("id", other!.id), set: { uuid: names.uuid.toUpperCase() } });
    expect((await managed("b", "uuid")).status).toBe(200);
    expect(await t.store.hosts.count()).toBe(3);
  });

  it("of two spellings of an identifier, the one in the secret's team enrolls", async () => {
    const ids = new Map<number, number>();
    for (const [identifier, team_id] of [
      ["Host-9", a.id],
      ["host-9", b.id],
    ] as const) {
      const now = t.clock.iso();
      const times = { created_at: now, updated_at: now, last_enrolled_at: now };
      ids.set(team_id, (await t.store.hosts.insert({ ...times, identifier, team_id })).id);
    }
    const body = enrollment({ enroll_secret: keys.b, host_identifier: "Host-9" });
    expect((await send("/api/v1/qengine/enroll", body)).status).toBe(200);
    expect((await t.store.hosts.get(ids.get(b.id)!))?.node_key_hash).not.toBeNull();
    expect((await t.store.hosts.get(ids.get(a.id)!))?.node_key_hash).toBeNull();
    const reported = { hardware_uuid: "other", hardware_serial: "", hostname: "", platform: "" };
    const agent = { ...reported, enroll_secret: keys.b, qengine_identifier: "Host-9" };
    expect((await agentCall(t, "/enroll", agent)).status).toBe(200);
    expect((await t.store.managedAgents.list()).map(({ id }) => id)).toEqual([ids.get(b.id)]);
  });

  it("refuse a global secret if the setting requires it", async () => {
    await t.close();
    await start({ global_reenroll: "refuse" });
    await machine("b");
    expect([(await stock("global")).status, (await managed("global")).status]).toEqual([401, 403]);
  });

  it("in one batch are judged individually", async () => {
    await machine("b");
    const others = ["x", "y"].map((host_identifier) =>
      send("/api/v1/qengine/enroll", enrollment({ enroll_secret: keys.a, host_identifier })),
    );
    const replies = await Promise.all([stock("a"), ...others, stock("a", "serial")]);
    expect(replies.map(({ status }) => status)).toEqual([401, 200, 200, 200]);
    expect((await t.store.hosts.list()).map(({ team_id }) => team_id)).toEqual([b.id, a.id, a.id, a.id]);
  });

  it("are judged by the team that the host is in when they are written", async () => {
    const { id } = await machine("b");
    const results = await Promise.all([
      t.post("/hosts/transfer", { team_id: a.id, hosts: [id] }),
      ...Array.from({ length: 10 }, (_, i) => (i % 2 ? stock("b") : managed("b"))),
    ]);
    expect(results[0]!.status).toBe(200);
    expect(await t.store.hosts.get(id), "no enrollment takes it back").toMatchObject({ team_id: a.id });
  });
});
