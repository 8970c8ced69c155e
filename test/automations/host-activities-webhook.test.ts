// The webhooks of host activities: of all hosts, of a team's hosts, and of hosts without a team.
import { beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../src/api/automations/webhooks.ts";
import type { NoTeam, Team } from "../../src/api/settings/teams.ts";
import { recordActivities, recordActivity } from "../../src/server/platform/activities/record.ts";
import { verifyChain } from "../../src/server/platform/activities/verify.ts";
import { serviceContext, within } from "../../src/server/platform/core/context.ts";
import { sealAll } from "../../src/server/platform/outbox/activities.ts";
import { eq, everything, isNull } from "../../src/server/platform/store/query.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { isSigned, type Receiver, startReceiver } from "../support/receiver.ts";
import { withSecondServer } from "../support/second-server.ts";

const URL = "https://hooks.example.com/hosts";
const hookTo = (destination_url: string, isOn = true) => ({
  webhook_settings: { host_activities_webhook: { enable_host_activities_webhook: isOn, destination_url } },
});

async function ok<T>(response: Promise<Response>): Promise<T> {
  const reply = await response;
  expect(reply.status, await reply.clone().text()).toBe(200);
  return (await reply.json()) as T;
}
const fieldOf = async (response: Promise<Response>) => {
  const reply = await response;
  const { errors } = await errorOf(reply);
  return [reply.status, errors![0]!.name];
};

describe.each(bothEngines)("webhooks of host activities on %s", (engine) => {
  let t: TestApp;
  let receiver: Receiver;
  let sales: { readonly id: number };
  let lab: { readonly id: number };
  beforeEach(async () => {
    t = await startApp({ engine, settings: { outbound_allow: "127.0.0.1" } });
    receiver = await startReceiver();
    sales = await makeTeam(t, "Sales");
    lab = await makeTeam(t, "Lab");
  });
  const to = (path: string) => `${receiver.url.replace(/\/$/, "")}/${path}`;
  const record = () => serviceContext(t.services);
  const allSent = () =>
    expect
      .poll(
        async () =>
          (await t.store.activities.count(isNull("chain_position"))) +
          (await t.store.outbox.count(eq("state", "pending"))),
      )
      .toBe(0);
  /** What has come, by the last part of its path, without changes of settings. */
  const come = async () => {
    await allSent();
    return receiver.received
      .map(({ path, text }) => ({ path: path.slice(1), ...(JSON.parse(text) as { type: string; details: object }) }))
      .map(({ path, type, details }) => ({ path, type, details }))
      .sort((a, b) => a.path.localeCompare(b.path));
  };

  it("send the activities of the hosts of their team, of no team, or of all hosts", async () => {
    await ok(t.patch("/config", hookTo(to("all"))));
    await ok(t.patch("/teams/0", hookTo(to("none"))));
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("sales"))));
    const [mine, other, free] = [
      await makeHost(t, { team_id: sales.id }),
      await makeHost(t, { team_id: lab.id }),
      await makeHost(t),
    ];
    const about = (host: { id: number }) => ({ host_id: host.id, host_display_name: "x" });
    await recordActivity(record(), "locked_host", { ...about(mine), view_pin: false }, { hostId: mine.id });
    await recordActivity(record(), "read_host_disk_encryption_key", about(free));
    await recordActivity(record(), "svc_enrolled", { ...about(other), host_serial: "" }, { hostId: other.id });
    await recordActivity(record(), "created_team", { team_id: sales.id, team_name: "Sales" });
    const sent = await come();
    expect(sent.map(({ path, type }) => `${path} ${type}`)).toEqual([
      "all locked_host",
      "all read_host_disk_encryption_key",
      "all svc_enrolled",
      "none read_host_disk_encryption_key",
      "sales locked_host",
    ]);
    expect(sent.at(-1)!.details).toEqual({ ...about(mine), view_pin: false });
    const [request] = receiver.received.filter(({ path }) => path === "/sales");
    expect(Object.keys(JSON.parse(request!.text))).toEqual([
      "timestamp",
      "actor_full_name",
      "actor_id",
      "actor_email",
      "type",
      "details",
    ]);
    const [destination] = await t.store.webhookDestinations.list({ where: eq("url", to("sales")) });
    expect(isSigned(request!, destination!.signing_secret)).toBe(true);
    const { deliveries } = await ok<{ deliveries: Delivery[] }>(t.get("/webhooks/deliveries?event=host_activities"));
    expect(deliveries.map(({ url, team_id }) => [url, team_id]).sort()).toEqual(
      [
        [to("all"), null],
        [to("all"), null],
        [to("all"), null],
        [to("none"), null],
        [to("sales"), sales.id],
      ].sort(),
    );
  });

  it("send an activity about several hosts once for each team, with this team's hosts only", async () => {
    for (const [team, path] of [
      [sales, "sales"],
      [lab, "lab"],
    ] as const)
      await ok(t.patch(`/teams/${team.id}`, hookTo(to(path))));
    await ok(t.patch("/teams/0", hookTo(to("none"))));
    const [a, b] = [
      await makeHost(t, { team_id: sales.id, display_name: "a" }),
      await makeHost(t, { display_name: "b" }),
    ];
    await ok(t.post("/hosts/transfer", { team_id: lab.id, hosts: [a.id, b.id] }));
    const details = { team_id: lab.id, team_name: "Lab" };
    expect(await come()).toEqual([
      {
        path: "lab",
        type: "transferred_hosts",
        details: { ...details, host_ids: [a.id, b.id], host_display_names: ["a", "b"] },
      },
      { path: "none", type: "transferred_hosts", details: { ...details, host_ids: [b.id], host_display_names: ["b"] } },
      {
        path: "sales",
        type: "transferred_hosts",
        details: { ...details, host_ids: [a.id], host_display_names: ["a"] },
      },
    ]);
  });

  it("add the ids of hosts to an activity that does not name them, which the feed does not store", async () => {
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("sales"))));
    const [a, b, c] = [
      await makeHost(t, { team_id: sales.id }),
      await makeHost(t, { team_id: lab.id }),
      await makeHost(t, { team_id: sales.id }),
    ];
    const details = { profile_name: "P", host_count: 3 };
    await recordActivity(record(), "resent_configuration_profile_batch", details, { hosts: [a.id, b.id, c.id] });
    expect(await come()).toEqual([
      {
        path: "sales",
        type: "resent_configuration_profile_batch",
        details: { ...details, host_ids: [a.id, c.id] },
      },
    ]);
    const [entry] = await t.store.activities.list({ where: eq("type", "resent_configuration_profile_batch") });
    expect(entry).toMatchObject({ details, host_requests: null });
    expect((await verifyChain(t.store)).ok).toBe(true);
  });

  it("send the deletion of hosts, and what was recorded while they were on, to the URL of that time", async () => {
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("sales"))));
    const [a, b] = [await makeHost(t, { team_id: sales.id }), await makeHost(t, { team_id: sales.id })];
    await ok(t.delete(`/hosts/${a.id}`));
    await t.store.tx(async (tx) => {
      const details = { host_id: b.id, host_display_name: "b" };
      await recordActivity(within(record(), tx), "cleared_passcode", details, { hostId: b.id });
    });
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("later"), false)));
    await recordActivity(record(), "cleared_passcode", { host_id: b.id, host_display_name: "b" }, { hostId: b.id });
    expect((await come()).map(({ path, type }) => `${path} ${type}`)).toEqual([
      "sales deleted_host",
      "sales cleared_passcode",
    ]);
  });

  it("read many hosts together", async () => {
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("sales"))));
    const hosts = [];
    for (let n = 0; n < 50; n++) hosts.push(await makeHost(t, { team_id: sales.id }));
    let reads = 0;
    const counted = <T extends object>(table: T): T =>
      new Proxy(table, {
        get: (target, name) => {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== "function") return value;
          reads++;
          return value.bind(target);
        },
      });
    const { store } = t;
    const watched = new Proxy(store, {
      get: (target, name) =>
        name === "hosts" || name === "teams" || name === "configSections"
          ? counted(target[name])
          : Reflect.get(target, name),
    });
    const context = { ...record(), store: watched };
    await recordActivities(
      context,
      "cleared_passcode",
      hosts.map(({ id }) => ({ host_id: id, host_display_name: "x" })),
      { hostIds: hosts.map(({ id }) => id) },
    );
    expect(reads).toBeLessThanOrEqual(3);
    expect(await come()).toHaveLength(50);
  });

  it("can be tested with the URL of a team", async () => {
    await ok(t.patch(`/teams/${sales.id}`, hookTo(to("sales"), false)));
    const test = (body: object) => t.post("/webhooks/test", body);
    const { delivery } = await ok<{ delivery: Delivery }>(test({ event: "host_activities", team_id: sales.id }));
    expect(delivery).toMatchObject({ url: to("sales"), state: "delivered" });
    expect(receiver.bodies().at(-1)).toMatchObject({ type: "locked_host", details: { host_id: 1 } });
    expect(await fieldOf(test({ event: "host_activities", team_id: lab.id }))).toEqual([422, "url"]);
    expect(await fieldOf(test({ event: "host_activities", team_id: 0 }))).toEqual([422, "url"]);
    expect(await fieldOf(test({ event: "vulnerabilities", team_id: lab.id }))).toEqual([422, "team_id"]);
    expect(await fieldOf(test({ event: "host_activities", team_id: 999 }))).toEqual([404, "team_id"]);
  });
});

describe.each(rulesEngines)("settings of host activities webhooks on %s", (engine) => {
  const places = (teamId: number) =>
    [
      ["/config", ""],
      ["/teams/0", ""],
      [`/teams/${teamId}`, ""],
    ] as const;

  it("need an http or https URL to be enabled", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Sales");
    const field = "webhook_settings.host_activities_webhook.destination_url";
    for (const [path] of places(team.id)) {
      for (const bad of ["", "ftp://example.com", "hooks", "https://u:p@example.com", "http://10.0.0.5/x"])
        expect([bad, ...(await fieldOf(t.patch(path, hookTo(bad))))]).toEqual([bad, 422, field]);
      const unknown = { webhook_settings: { host_activities_webhook: { enabled: true } } };
      expect((await t.patch(path, unknown)).status).toBe(400);
    }
  });

  it("are null until they are set; absent means unchanged, and null clears them", async () => {
    const t = await startApp({ engine });
    const { id } = await makeTeam(t, "Sales");
    for (const path of ["/teams/0", `/teams/${id}`]) {
      const hookAfter = async (body?: object) => {
        if (body) await ok(t.patch(path, body));
        return (await ok<{ team: Team | NoTeam }>(t.get(path))).team.webhook_settings.host_activities_webhook;
      };
      expect(await hookAfter()).toBeNull();
      const off = { webhook_settings: { host_activities_webhook: { destination_url: URL } } };
      expect(await hookAfter(off)).toEqual({ enable_host_activities_webhook: false, destination_url: URL });
      const on = { webhook_settings: { host_activities_webhook: { enable_host_activities_webhook: true } } };
      const set = { enable_host_activities_webhook: true, destination_url: URL };
      expect(await hookAfter(on)).toEqual(set);
      const other = { webhook_settings: { failing_policies_webhook: { destination_url: URL } } };
      expect(await hookAfter(other)).toEqual(set);
      expect(await hookAfter({ webhook_settings: { host_activities_webhook: null } })).toBeNull();
    }
  });

  it("are recorded with their team when they are turned on, changed and turned off", async () => {
    const t = await startApp({ engine });
    const { id } = await makeTeam(t, "Sales");
    const teams: [path: string, team: object][] = [
      ["/config", { team_id: null, team_name: null }],
      ["/teams/0", { team_id: 0, team_name: "No team" }],
      [`/teams/${id}`, { team_id: id, team_name: "Sales" }],
    ];
    for (const [path, team] of teams) {
      await t.store.activities.delete(everything);
      for (const body of [hookTo(URL), hookTo(URL), hookTo(`${URL}/2`), hookTo(`${URL}/2`, false)])
        await ok(t.patch(path, body));
      const rows = await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] });
      expect(rows.map(({ type, details }) => ({ type, ...details }))).toEqual([
        { type: "enabled_activity_automations", webhook_url: URL, ...team },
        { type: "edited_activity_automations", webhook_url: `${URL}/2`, ...team },
        { type: "disabled_activity_automations", ...team },
      ]);
    }
  });

  it("of teams need a premium license, and a role on the team", async () => {
    const free = await startApp({ engine, tier: "free" });
    expect((await free.patch("/teams/0", hookTo(URL))).status).toBe(402);
    expect((await free.patch("/teams/1", hookTo(URL))).status).toBe(402);
    await ok(free.patch("/config", hookTo(URL)));
    const t = await startApp({ engine });
    const { id } = await makeTeam(t, "Sales");
    for (const role of ["observer", "maintainer"] as const) {
      const { token } = await makeUser(t, role);
      for (const [path] of places(id)) expect((await t.as(token).patch(path, hookTo(URL))).status).toBe(403);
    }
  });
});

it("queue each request once, whichever of two servers adds the activity to the chain", async () => {
  const t = await startApp({ engine: "postgres", settings: { outbound_allow: "127.0.0.1" } });
  const receiver = await startReceiver();
  const { id } = await makeTeam(t, "Sales");
  const host = await makeHost(t, { team_id: id });
  await ok(t.patch(`/teams/${id}`, hookTo(receiver.url)));
  await withSecondServer(t, async (there) => {
    for (let n = 0; n < 20; n++) {
      const on = n % 2 === 0 ? t : there;
      const details = { host_id: host.id, host_display_name: "x" };
      await recordActivity(serviceContext(on.services), "cleared_passcode", details, { hostId: host.id });
      await Promise.all([sealAll(t.services), sealAll(there.services)]);
    }
  });
  await receiver.got(20);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(20);
});
