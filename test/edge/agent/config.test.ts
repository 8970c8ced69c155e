import { beforeEach, describe, expect, test } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { enroll, makeSecret, type Send, throughApp } from "./agents.ts";

describe.each(rulesEngines)("agent configuration on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine });
    send = throughApp(t);
    await makeSecret(t);
  });
  const config = async (node_key: string) => (await send("/api/v1/qengine/config", { node_key })).json;
  const options = (agent_options: object) => t.patch("/config", { agent_options });

  test("consists of the global options, at the top level and with the same text each time", async () => {
    const sent = {
      options: { pack_delimiter: "/", distributed_interval: 10 },
      schedule: { uptime: { query: "SELECT * FROM uptime;", interval: 3600 } },
      decorators: { load: ["SELECT uuid AS host_uuid FROM system_info;"] },
    };
    expect((await options({ config: sent })).status).toBe(200);
    const key = await enroll(send);
    await expect.poll(() => config(key)).toEqual(sent);
    const texts = await Promise.all(
      [1, 2, 3].map(async () => (await send("/api/v1/qengine/config", { node_key: key })).text),
    );
    expect(new Set(texts).size).toBe(1);
  });

  test("a pack that is text, which would name a file on the host, is never sent, even if it was saved with force", async () => {
    const packs = { good: { queries: { uptime: { query: "SELECT 1;", interval: 60 } } }, bad: "/etc/packs/bad.conf" };
    expect((await t.patch("/config?force=true", { agent_options: { config: { packs } } })).status).toBe(200);
    const key = await enroll(send);
    await expect.poll(() => config(key)).toEqual({ packs: { good: packs.good } });
  });

  test("changes reach hosts that have fetched it before", async () => {
    const key = await enroll(send);
    await config(key);
    await options({ config: { options: { pack_delimiter: ":" } } });
    await expect.poll(() => config(key)).toEqual({ options: { pack_delimiter: ":" } });
  });

  test("a platform's override replaces the whole configuration, by platform or by family", async () => {
    const overrides = {
      darwin: { options: { pack_delimiter: "D" } },
      linux: { options: { pack_delimiter: "L" } },
    };
    await options({ config: { options: { pack_delimiter: "/" } }, overrides: { platforms: overrides } });
    const enrollOn = (platform: string) =>
      enroll(send, { host_identifier: platform, host_details: { os_version: { name: platform, platform } } });
    const delimiter = async (platform: string) => (await config(await enrollOn(platform))).options.pack_delimiter;
    await expect.poll(() => delimiter("darwin")).toBe("D");
    expect(await delimiter("ubuntu")).toBe("L");
    expect(await delimiter("windows")).toBe("/");
  });

  test("a team's options replace the global ones, for hosts of the team", async () => {
    await options({ config: { options: { pack_delimiter: "/" } } });
    const team = await makeTeam(t);
    await t.store.teams.updateEach([{ id: team.id, agent_options: { config: { options: { pack_delimiter: "T" } } } }]);
    await makeSecret(t, "team-secret", team.id);
    const inTeam = await enroll(send, { host_identifier: "in-team", enroll_secret: "team-secret" });
    const outside = await enroll(send, { host_identifier: "outside" });
    expect((await config(inTeam)).options.pack_delimiter).toBe("T");
    await expect.poll(async () => (await config(outside)).options.pack_delimiter).toBe("/");
    await t.store.teams.updateEach([{ id: team.id, agent_options: null }]);
    await t.store.notify("svc_teams", String(team.id));
    await expect.poll(async () => (await config(inTeam)).options.pack_delimiter).toBe("/");
  });

  test("its intervals are stored for the host, which counts as online for longer immediately", async () => {
    const key = await enroll(send);
    const host = async () => (await t.store.hosts.list())[0]!;
    const seen = async () => (await t.store.hostSeen.list())[0]!;
    await options({ config: { options: { distributed_interval: 30, logger_tls_period: 20, config_refresh: 300 } } });
    await expect
      .poll(async () => {
        await config(key);
        return await host();
      })
      .toMatchObject({ distributed_interval: 30, logger_tls_period: 20, config_tls_refresh: 300 });
    const now = t.clock.now();
    expect(await seen()).toMatchObject({
      seen_time: t.clock.iso(),
      online_until: new Date(now + 90_000).toISOString(),
    });
  });

  test("last-seen times are written together, for requests with a node key", async () => {
    const keys = await Promise.all(
      Array.from({ length: 30 }, (_, i) => enroll(send, { host_identifier: `host-${i}` })),
    );
    const enrolledAt = t.clock.iso();
    t.clock.advance(600_000);
    await Promise.all(keys.slice(0, 20).map(config));
    await t.agent.flush();
    const times = (await t.store.hostSeen.list()).map((row) => row.seen_time);
    expect(times.filter((time) => time === t.clock.iso())).toHaveLength(20);
    expect(times.filter((time) => time === enrolledAt)).toHaveLength(10);
    const { online_count } = (await (await t.get("/host_summary")).json()) as { online_count: number };
    expect(online_count).toBe(20);
  });
});
