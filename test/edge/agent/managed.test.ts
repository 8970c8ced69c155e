// The protocol of managed agents (docs/protocols/managed-agent.md).
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { managedAgentApi } from "../../../src/api/delivery/managed-agent.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";
import { addSecret, agentCall, ManagedAgent, makeManaged, SECRET } from "../../support/managed.ts";
import { enrollment, throughApp } from "./agents.ts";

describe.each(rulesEngines)("a managed agent on %s", (engine) => {
  it("enrolls a new host once, which is recorded in the feed", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t, { hardware_uuid: "UUID-1", hardware_serial: "S-1", computer_name: "box" });
    const host = await agent.host();
    expect(host).toMatchObject({
      identifier: "uuid-1",
      uuid: "UUID-1",
      hardware_serial: "S-1",
      computer_name: "box",
      display_name: "box",
      hardware_model: "Model M",
      platform: "ubuntu",
      refetch_requested: true,
      detail_updated_at: null,
      label_updated_at: null,
      policy_updated_at: null,
      node_key_hash: null,
      team_id: null,
    });
    await agent.enroll();
    expect(await t.store.hosts.count()).toBe(1);
    const { activities } = (await (await t.get("/activities?activity_type=svc_enrolled")).json()) as {
      activities: unknown[];
    };
    expect(activities).toEqual([
      expect.objectContaining({
        svc_initiated: true,
        details: { host_id: host.id, host_serial: "S-1", host_display_name: "box" },
      }),
    ]);
    const labels = await t.store.labelMembers.count(eq("host_id", host.id));
    expect(labels).toBe(1);
  });

  it("gets the server's capabilities with an enrollment and a ping", async () => {
    const t = await startApp({ engine });
    const ping = await agentCall(t, "/ping", undefined, "HEAD");
    expect(ping.status).toBe(200);
    expect(ping.headers.get("x-svc-capabilities")).toMatch(/^[a-z_]+(,[a-z_]+)*$/);
    await addSecret(t);
    const enrolled = await agentCall(t, "/enroll", { enroll_secret: SECRET, hardware_uuid: "U" });
    expect(Object.keys(enrolled.json)).toEqual(["agent_node_key"]);
    const words = ping.headers.get("x-svc-capabilities");
    expect(enrolled.headers.get("x-svc-capabilities")).toBe(words);
    const config = await agentCall(t, "/config", enrolled.json);
    expect([config.status, config.headers.get("x-svc-capabilities")]).toEqual([200, words]);
    const refused = await agentCall(t, "/config", { agent_node_key: "none" });
    expect([refused.status, refused.headers.get("x-svc-capabilities")]).toEqual([401, words]);
    // The path without a version is served, too.
    expect((await agentCall(t, "/api/svc/agent/config", enrolled.json)).status).toBe(200);
  });

  it("answers agents of this protocol family below the paths that they know, without a setting", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const enrolled = await agentCall(t, "/api/svc/orbit/enroll", { enroll_secret: SECRET, hardware_uuid: "U" });
    expect(Object.keys(enrolled.json).sort()).toEqual(["agent_node_key", "orbit_node_key"]);
    const { orbit_node_key } = enrolled.json;
    const config = await agentCall(t, "/api/svc/orbit/config", { orbit_node_key });
    expect(config.status).toBe(200);
    expect(config.headers.get("x-svc-capabilities")).not.toBeNull();
    for (const path of ["/api/svc/orbit/ping", "/api/svc/device/ping"])
      expect((await agentCall(t, path, undefined, "HEAD")).status, path).toBe(200);
    expect((await agentCall(t, "/api/svc/orbit/nothing", {})).status).toBe(404);
    const same = await startApp({
      engine,
      settings: { managed_agent_prefix: "/api/svc/orbit", managed_agent_capabilities: "X-Other-Words: one" },
    });
    const theirs = await agentCall(same, "/api/svc/orbit/config", { orbit_node_key: "none" });
    expect([theirs.status, theirs.headers.get("x-other-words")]).toEqual([401, "one"]);
  });

  it("gets capabilities below a third party's prefix in the terms of that party", async () => {
    const managed_agent_capabilities = "X-Other-Words: one, two";
    const t = await startApp({ engine, settings: { managed_agent_prefix: "/api/other", managed_agent_capabilities } });
    const theirs = await agentCall(t, "/api/other/config", { orbit_node_key: "none" });
    expect([theirs.headers.get("x-other-words"), theirs.headers.get("x-svc-capabilities")]).toEqual(["one, two", null]);
    const ours = await agentCall(t, "/config", { agent_node_key: "none" });
    expect(ours.headers.get("x-other-words")).toBeNull();
  });

  it("is refused with an invalid secret, and its address after many of them", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const enroll = (enroll_secret: unknown) => agentCall(t, "/enroll", { enroll_secret, hardware_uuid: "U" });
    for (let i = 0; i < 20; i++) {
      const { status, json } = await enroll(i % 2 === 0 ? "wrong" : "");
      expect(status).toBe(401);
      expect(json.errors[0].name).toBe("base");
    }
    const limited = await enroll("wrong");
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await enroll(SECRET)).status, "a good secret is not limited").toBe(200);
    t.clock.advance(61_000);
    expect((await enroll("wrong")).status).toBe(401);
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("needs a hardware uuid", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const { status, json } = await agentCall(t, "/enroll", { enroll_secret: SECRET, hostname: "h" });
    expect(status).toBe(422);
    expect(json.errors).toEqual([{ name: "hardware_uuid", reason: "hardware_uuid is required" }]);
    expect(await t.store.hosts.count()).toBe(0);
  });

  it("uses the row of the stock agent, whichever enrolls first", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const known = await makeHost(t, { identifier: "id-1", uuid: "", hardware_serial: "KNOWN", computer_name: "" });
    await new ManagedAgent(t, { qengine_identifier: "id-1", hardware_uuid: "U-1", computer_name: "told" }).enroll();
    expect(await t.store.hosts.get(known.id)).toMatchObject({
      uuid: "U-1",
      hardware_serial: "KNOWN",
      computer_name: "told",
      hostname: known.hostname,
    });
    await new ManagedAgent(t, { osquery_identifier: "id-1", hardware_uuid: "U-1" }).enroll();
    expect(await t.store.hosts.count()).toBe(1);

    const agent = await new ManagedAgent(t, { hardware_uuid: "U-2" }).enroll();
    const first = await agent.host();
    const reply = await throughApp(t)(
      "/api/v1/qengine/enroll",
      enrollment({
        enroll_secret: SECRET,
        host_identifier: "U-2",
        host_details: { system_info: { uuid: "U-2", hostname: "from-stock" } },
      }),
    );
    expect(reply.json.node_key).toEqual(expect.any(String));
    expect(await t.store.hosts.count()).toBe(2);
    expect(await t.store.hosts.get(first.id)).toMatchObject({ hostname: "from-stock" });
    expect((await agent.call("/config")).status).toBe(200);
  });

  it("is not matched by uuid if it sends an identifier", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    await makeHost(t, { identifier: "other", uuid: "U-1" });
    await new ManagedAgent(t, { qengine_identifier: "mine", hardware_uuid: "U-1" }).enroll();
    expect(await t.store.hosts.count()).toBe(2);
  });

  it("joins the secret's team if it is new, and its old key ends immediately when it enrolls again", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    const agent = await new ManagedAgent(t).enroll("team-secret");
    expect((await agent.host()).team_id).toBe(team.id);
    const old = agent.key;
    expect((await agent.call("/config")).status).toBe(200);
    await agent.enroll("team-secret");
    expect((await agent.host()).team_id).toBe(team.id);
    expect((await agentCall(t, "/config", { agent_node_key: old })).status).toBe(401);
    expect((await agent.call("/config")).status).toBe(200);
  });

  it("can send its key under three names, and an invalid one is refused with 401 before anything else", async () => {
    const t = await startApp({ engine });
    const { key } = await makeManaged(t);
    for (const name of ["agent_node_key", "orbit_node_key", "orbot_node_key"])
      expect((await agentCall(t, "/config", { [name]: key })).status, name).toBe(200);
    for (const path of [
      "/config",
      "/device_token",
      "/scripts/request",
      "/scripts/result",
      "/software_install/details",
      "/software_install/package",
      "/software_install/result",
      "/disk_encryption_key",
      "/luks_data",
      "/setup_experience/init",
      "/setup_experience/status",
    ])
      for (const body of [{}, { agent_node_key: "" }, { agent_node_key: "nobody's" }, { orbit_node_key: `${key}x` }]) {
        const { status, json } = await agentCall(t, path, body);
        expect(status, `${path} ${JSON.stringify(body)}`).toBe(401);
        expect(json).toMatchObject({ message: "Authentication required", uuid: expect.any(String) });
      }
    expect((await agentCall(t, "/device_mapping", {}, "PUT")).status).toBe(401);
    expect((await agentCall(t, "/config", { agent_node_key: 7 })).status).toBe(422);
    expect((await t.raw("/api/v1/svc/agent/config")).status).toBe(405);
  });

  it("loses its key with its host", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    expect((await agent.call("/config")).status).toBe(200);
    await t.delete(`/hosts/${(await agent.host()).id}`);
    expect((await agent.call("/config")).status).toBe(401);
    expect(await t.store.managedAgents.count()).toBe(0);
  });

  it("gets start-up flags of its team, and changes immediately", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const flags = async () => (await agent.call("/config")).json.command_line_startup_flags;
    expect((await agent.call("/config")).json).toEqual({
      script_execution_timeout: 300,
      command_line_startup_flags: {},
      extensions: {},
      notifications: {},
    });
    await t.patch("/config", { agent_options: { command_line_flags: { verbose: true } } });
    expect(await flags()).toEqual({ verbose: true });
    const team = await makeTeam(t);
    await t.post(`/teams/${team.id}/agent_options`, { command_line_flags: { verbose: false } });
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [(await agent.host()).id] });
    await agent.enroll("team-secret");
    expect(await flags()).toEqual({ verbose: false });
    await t.post(`/teams/${team.id}/agent_options`, { command_line_flags: { disable_events: true } });
    expect(await flags()).toEqual({ disable_events: true });
  });

  it("gets extensions of its platform, update channels and the time limit for scripts from the agent options", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const mac = await makeManaged(t, { platform: "darwin" });
    const options = {
      extensions: { hello: { platform: "linux", channel: "stable" }, world: { platform: "macos", channel: "edge" } },
      update_channels: { orbit: "edge", desktop: "5.1" },
      script_execution_timeout: 120,
    };
    expect((await t.patch("/config", { agent_options: options })).status).toBe(200);
    expect((await agent.call("/config")).json).toEqual({
      script_execution_timeout: 120,
      command_line_startup_flags: {},
      extensions: { hello: options.extensions.hello },
      update_channels: options.update_channels,
      notifications: {},
    });
    expect((await mac.call("/config")).json.extensions).toEqual({ world: options.extensions.world });
    for (const [bad, name] of [
      [{ extensions: { x: { platform: "beos", channel: "s" } } }, "agent_options.extensions.x.platform"],
      [{ extensions: { x: { labels: ["a"] } } }, "agent_options.extensions.x.labels"],
      [{ extensions: { x: 7 } }, "agent_options.extensions.x"],
      [{ extensions: [] }, "agent_options.extensions"],
      [{ update_channels: { kernel: "stable" } }, "agent_options.update_channels.kernel"],
      [{ update_channels: { orbit: 7 } }, "agent_options.update_channels.orbit"],
      [{ script_execution_timeout: 0 }, "agent_options.script_execution_timeout"],
      [{ script_execution_timeout: "5m" }, "agent_options.script_execution_timeout"],
      [{ config: { update_channels: {} } }, "agent_options.config.update_channels"],
    ] as const) {
      const res = await t.patch("/config", { agent_options: bad });
      const { errors } = (await res.json()) as { errors: { name: string }[] };
      expect([res.status, errors[0]!.name], JSON.stringify(bad)).toEqual([400, name]);
    }
    const forced = await t.patch("/config?force=true", { agent_options: { script_execution_timeout: "soon" } });
    expect(forced.status).toBe(400);
    const odd = await t.patch("/config?force=true", { agent_options: { extensions: { x: { platform: "beos" } } } });
    expect(odd.status).toBe(200);
    expect((await agent.call("/config")).json.extensions).toEqual({});
  });

  it("gets no installer and no setup in progress", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    expect((await agent.call("/software_install/details", { install_uuid: "x" })).status).toBe(404);
    expect((await agent.call("/software_install/result", { install_uuid: "x" })).status).toBe(404);
    const bare = await agent.call("/software_install/package", { installer_id: 1 });
    expect([bare.status, bare.json.errors[0].reason]).toEqual([400, "only alt=media is supported"]);
    expect((await agent.call("/software_install/package?alt=media", { installer_id: 1 })).status).toBe(404);
    const { json } = await agent.call("/setup_experience/status", { force_release: false });
    expect(json).toEqual({
      setup_experience_results: { software: [], configuration_profiles: [], org_logo_url: "" },
    });
  });

  it("gets a refusal for premium features on the free tier", async () => {
    const t = await startApp({ engine, tier: "free" });
    const agent = await makeManaged(t);
    expect((await agent.call("/software_install/package?alt=media", { installer_id: 1 })).status).toBe(402);
    for (const path of ["init", "status"]) expect((await agent.call(`/setup_experience/${path}`)).status).toBe(402);
    expect((await agent.call("/config")).status).toBe(200);
  });

  it("escrows a LUKS passphrase, which can be read like other keys", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    for (const [body, name] of [
      [{ salt: "s", key_slot: 1 }, "passphrase"],
      [{ passphrase: "p", key_slot: 1 }, "salt"],
      [{ passphrase: "p", salt: "s" }, "key_slot"],
    ] as const) {
      const { status, json } = await agent.call("/luks_data", body);
      expect([status, json.errors[0].name]).toEqual([400, name]);
    }
    expect(await t.store.hostDiskEncryption.count()).toBe(0);
    const sent = await agent.call("/luks_data", { passphrase: "open sesame", salt: "salty", key_slot: 0 });
    expect([sent.status, sent.json]).toEqual([204, undefined]);
    expect(await t.store.hostDiskEncryption.get(id)).toMatchObject({
      key: "open sesame",
      key_salt: "salty",
      key_slot: 0,
      key_updated_at: t.clock.iso(),
      status: "verified",
    });
    const read = (await (await t.get(`/hosts/${id}/encryption_key`)).json()) as { encryption_key: { key: string } };
    expect(read.encryption_key.key).toBe("open sesame");
    const feed = (await (await t.get("/activities?activity_type=escrowed_disk_encryption_key")).json()) as {
      activities: unknown[];
    };
    expect(feed.activities).toEqual([
      expect.objectContaining({ svc_initiated: true, details: { host_id: id, host_display_name: expect.any(String) } }),
    ]);
    expect((await agent.call("/luks_data", { client_error: "no tpm" })).status).toBe(204);
    expect(await t.store.hostDiskEncryption.get(id)).toMatchObject({ key: "open sesame", client_error: "no tpm" });
  });

  it("can escrow a BitLocker key only for a Windows host that this server manages", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t, { platform: "windows" });
    const { id } = await agent.host();
    const key = Buffer.from("111-222").toString("base64");
    expect((await agent.call("/disk_encryption_key", { encryption_key: key })).status).toBe(400);
    expect((await agent.call("/luks_data", { passphrase: "p", salt: "s", key_slot: 1 })).status).toBe(400);
    await t.store.hostMdm.insert({ id, enrollment_status: "On (manual)", connected_to_svc: true });
    expect((await agent.call("/disk_encryption_key", { encryption_key: "%%%" })).status).toBe(400);
    expect((await agent.call("/disk_encryption_key", { encryption_key: key })).status).toBe(204);
    expect(await t.store.hostDiskEncryption.get(id)).toMatchObject({ key: "111-222" });
  });

  it("reports the user of the host", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    expect((await agent.call("/device_mapping", { email: "eve@example.com" }, "PUT")).status).toBe(200);
    expect((await agent.call("/device_mapping", { email: "no address" }, "PUT")).status).toBe(422);
    const { device_mapping } = (await (await t.get(`/hosts/${id}/device_mapping`)).json()) as {
      device_mapping: unknown;
    };
    expect(device_mapping).toEqual([{ email: "eve@example.com", source: "custom" }]);
  });

  it("gets replies below a third party's prefix, with that party's name for the key", async () => {
    const t = await startApp({ engine, settings: { managed_agent_prefix: "/api/other/orbit" } });
    await addSecret(t);
    const { status, json } = await agentCall(t, "/api/other/orbit/enroll", {
      enroll_secret: SECRET,
      hardware_uuid: "U",
    });
    expect(status).toBe(200);
    const config = await agentCall(t, "/api/other/orbit/config", { orbit_node_key: json.orbit_node_key });
    expect(config.status).toBe(200);
    expect((await agentCall(t, "/api/other/orbit/ping", undefined, "HEAD")).status).toBe(200);
    expect((await agentCall(t, "/api/other/orbit/nothing", {})).status).toBe(404);
  });

  it("never enrolls more hosts than the license allows", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const license = t.services.license as { device_count?: number };
    license.device_count = 1;
    await new ManagedAgent(t).enroll();
    const { status, json } = await agentCall(t, "/enroll", { enroll_secret: SECRET, hardware_uuid: "one more" });
    expect(status).toBe(403);
    expect(json.errors[0].reason).toBe("enroll host failed: maximum number of hosts reached: 1");
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("is limited if it guesses keys", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    let last = 0;
    for (let i = 0; i <= 1_000; i++) last = (await agentCall(t, "/config", { agent_node_key: `guess-${i}` })).status;
    expect(last).toBe(429);
    expect((await agent.call("/config")).status).toBe(200);
  });

  it("gets a refusal for any other input", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const host = await agent.host();
    await t.store.hostMdm.insert({ id: host.id, enrollment_status: "On (manual)", connected_to_svc: true });
    await t.post(`/hosts/${host.id}/lock`);
    const [execution_id] = await agent.pending();
    const odd = [null, [], {}, 7.5, -1, true, "", "\u0000", "\ud800", "x".repeat(70_000), 1e300, 2 ** 60];
    for (const { method, path, body } of Object.values(managedAgentApi)) {
      if (method === "HEAD") continue;
      const send = async (text: string, headers: Record<string, string> = {}) => {
        const init = { method, body: text, headers: { "content-type": "application/json", ...headers } };
        const { status } = await t.raw(`/api/v1/svc${path}?alt=media`, init);
        expect(status, `${path} ${text.slice(0, 100)}`).toBeLessThan(500);
      };
      for (const text of ["", "{", "null", "[]", "7", '"x"', `{"a":${"[".repeat(200)}${"]".repeat(200)}}`])
        await send(text);
      await send("{}", { "content-encoding": "gzip" });
      const good = {
        enroll_secret: SECRET,
        hardware_uuid: "another machine",
        execution_id,
        exit_code: 0,
        salt: "s",
        key_slot: 1,
      };
      for (const field of Object.keys((body as z.ZodObject).shape))
        for (const value of odd) {
          await send(JSON.stringify({ ...good, agent_node_key: agent.key, [field]: value }));
        }
    }
    const big = await t.raw("/api/v1/svc/agent/scripts/result", {
      method: "POST",
      body: " ".repeat(5 * 1024 * 1024 + 1),
    });
    expect(big.status).toBe(413);
  });

  it("cannot use a user's token, and its key is not a user's token", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const admin = await makeUser(t, "admin");
    expect((await agentCall(t, "/config", { agent_node_key: admin.token })).status).toBe(401);
    expect((await t.as(agent.key).get("/hosts")).status).toBe(401);
  });
});

it("reads its host from the store once, not with every configuration", async () => {
  const t = await startApp();
  const agent = await makeManaged(t);
  await agent.call("/config");
  const reads: string[] = [];
  const { store } = t;
  const { pick } = store.managedAgents;
  store.managedAgents.pick = ((...given: Parameters<typeof pick>) => {
    reads.push("managed_agents");
    return pick(...given);
  }) as typeof pick;
  for (let i = 0; i < 10; i++) await agent.call("/config");
  expect(reads).toEqual([]);
  await t.post(`/hosts/${(await agent.host()).id}/refetch`);
  await agent.call("/config");
  expect(reads).toEqual(["managed_agents"]);
});
