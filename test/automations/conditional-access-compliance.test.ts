// Compliance of devices in the directory, against a stand-in: JSON batching and PATCH /devices of Microsoft Graph 1.0.
import { describe, expect, it, vi } from "vitest";
import { complianceReports } from "../../src/server/automations/conditional-access/compliance/job.ts";
import { reportDue } from "../../src/server/automations/conditional-access/compliance/report.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { hours, minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { credentials, type DirectoryStandIn, graphError, startDirectory, TENANT } from "../support/directory.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";
import { withSecondServer } from "../support/second-server.ts";

const guid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const DIRECTORY = "/conditional-access/directory";

interface StartedService {
  readonly t: TestApp;
  readonly directory: DirectoryStandIn;
  readonly policy: Awaited<ReturnType<typeof makePolicy>>;
  report(): Promise<void>;
}

/** Conditional access of hosts without a team is on, with one policy, and the directory is connected. */
async function start(engine: "lowdb" | "postgres", settings: Record<string, unknown> = {}): Promise<StartedService> {
  const directory = await startDirectory();
  const t = await startApp({ engine, settings: { ...directory.settings, ...settings } });
  await t.request("PUT", "/directory_graph_credentials", credentials());
  await t.post(DIRECTORY, { directory_tenant_id: TENANT });
  expect(await (await t.post(`${DIRECTORY}/confirm`)).json()).toEqual({ configuration_completed: true });
  await t.patch("/config", { integrations: { conditional_access_enabled: true } });
  await reportByHand(t);
  const policy = await makePolicy(t, { scope: "no_team", name: "Firewall", conditional_access_enabled: true });
  return { t, directory, policy, report: () => runJob(t.services, "directory_comparison") };
}

/** Stops what reports in the background, so that a test knows when it is done. */
const reportByHand = ({ services }: TestApp): Promise<void> => services.running.of(complianceReports).stop();

async function makeDevice(
  { t, directory }: StartedService,
  n: number,
  more: { known?: boolean; host_id?: number } = {},
) {
  const host = more.host_id === undefined ? await makeHost(t, { platform: "windows" }) : { id: more.host_id };
  const now = t.clock.iso();
  await t.store.directoryDevices.insert({ host_id: host.id, device_id: guid(n), updated_at: now, due_at: now });
  if (more.known !== false) directory.devices.set(guid(n), {});
  return host.id;
}

interface ShownState {
  enabled: boolean;
  blocking_policies: { name: string }[];
  directory: { device_id: string; status: string; pending: boolean; last_error: string; reported_at: string } | null;
}
const shown = async (t: TestApp, hostId: number): Promise<ShownState> =>
  ((await (await t.get(`/hosts/${hostId}/conditional_access`)).json()) as { conditional_access: ShownState })
    .conditional_access;
const activities = async (t: TestApp, type: string) =>
  (await t.store.activities.list({ where: eq("type", type) })).map(({ details }) => details);

describe.each(bothEngines)("compliance in the directory on %s", (engine) => {
  it("is reported once policies are answered, and again only when it changes", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    const id = await makeDevice(s, 1);
    await report();
    expect(directory.devices.get(guid(1)), "before the host has answered").toEqual({});
    expect(await shown(t, id)).toMatchObject({ enabled: true, directory: { status: "unreported", pending: false } });

    await makeResults(t, id, { passing: [policy] });
    await report();
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: true, isManaged: true });
    await report();
    await report();
    expect(directory.batches, "nothing has changed").toEqual([1]);

    await makeResults(t, id, { failing: [policy] });
    await report();
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: false, isManaged: true });
    expect(await shown(t, id)).toMatchObject({
      blocking_policies: [{ name: "Firewall" }],
      directory: { device_id: guid(1), status: "noncompliant", pending: false, last_error: "" },
    });
    expect(await activities(t, "ran_automation_conditional_access")).toEqual([
      { policy_id: policy.id, policy_name: policy.name, status_code: 204 },
    ]);
    await t.patch("/config", { integrations: { conditional_access_enabled: false } });
    await report();
    expect(directory.devices.get(guid(1)), "turned off").toEqual({ isCompliant: true, isManaged: true });
  });

  it("is sent in batches of 20, of devices that the server knows only", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    for (let n = 1; n <= 45; n++) {
      const id = await makeDevice(s, n, { known: n !== 7 });
      await makeResults(t, id, n % 3 === 0 ? { failing: [policy] } : { passing: [policy] });
    }
    await report();
    expect([...directory.batches].sort((a, b) => a - b)).toEqual([5, 20, 20]);
    for (const [id, { isCompliant }] of directory.devices)
      expect(isCompliant, id).toBe(Number(id.slice(-12)) % 3 !== 0);
    const connection = (await (await t.get(DIRECTORY)).json()) as object;
    expect(connection).toMatchObject({
      directory_tenant_id: TENANT,
      connected: true,
      devices: { compliant: 29, noncompliant: 15, unreported: 1, failing: 1 },
      last_error: "",
      paused_until: null,
    });
  });

  it("waits as long as the directory asks for, also when only one device of a batch is refused", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    for (let n = 1; n <= 30; n++) await makeResults(t, await makeDevice(s, n), { passing: [policy] });
    directory.fault = (path) =>
      path === "/graph/$batch" ? graphError(429, "TooMany", { "retry-after": "600" }) : null;
    await report();
    const batches = () => directory.requests.filter(({ url }) => url.pathname === "/graph/$batch").length;
    expect(batches()).toBe(1);
    directory.fault = () => null;
    t.clock.advance(seconds(590));
    await report();
    expect(batches(), "still paused").toBe(1);
    expect(await (await t.get(DIRECTORY)).json()).toMatchObject({
      last_error: "the directory accepts no more requests for now",
      devices: { unreported: 30 },
    });
    t.clock.advance(seconds(11));
    directory.deviceFault = (id) => (id === guid(3) ? { status: 429, headers: { "Retry-After": "1200" } } : null);
    await report();
    expect(directory.devices.get(guid(3))).toEqual({});
    expect(directory.devices.get(guid(4))).toMatchObject({ isCompliant: true });
    const sent = batches();
    directory.deviceFault = () => null;
    t.clock.advance(minutes(19));
    await report();
    expect(batches()).toBe(sent);
    t.clock.advance(minutes(2));
    await report();
    expect([...directory.devices.values()].every(({ isCompliant }) => isCompliant)).toBe(true);
    expect(await (await t.get(DIRECTORY)).json()).toMatchObject({ last_error: "", devices: { compliant: 30 } });
  });

  it("that is refused is shown with its reason, recorded once, and tried again later each time", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    const id = await makeDevice(s, 1);
    await makeResults(t, id, { failing: [policy] });
    directory.deviceFault = () => ({ status: 403 });
    const waits: number[] = [];
    for (let at = 0; at < 4; at++) {
      await report();
      // The server's own run, after the connection was confirmed, may be at it.
      const row = await vi.waitFor(async () => {
        const found = await t.store.directoryDevices.first({ where: eq("host_id", id) });
        expect(found?.failures).toBe(at + 1);
        return found!;
      });
      waits.push((Date.parse(row.due_at!) - t.clock.now()) / minutes(1));
      t.clock.advance(Date.parse(row.due_at!) - t.clock.now());
    }
    expect(waits).toEqual([5, 10, 20, 40]);
    const error = "the app lacks a permission in the directory: it needs Device.ReadWrite.All";
    expect(await shown(t, id)).toMatchObject({ directory: { status: "unreported", pending: true, last_error: error } });
    expect(await t.store.policyRuns.count(eq("status", "error"))).toBeGreaterThan(0);
    expect(await activities(t, "failed_automation_conditional_access")).toEqual([
      { policy_id: policy.id, policy_name: policy.name, status_code: 403, error_response: error },
    ]);
    directory.deviceFault = () => null;
    await report();
    expect(await shown(t, id)).toMatchObject({ directory: { status: "noncompliant", last_error: "" } });
  });

  it("follows the results that agents send, within the next run", async () => {
    const s = await start(engine);
    const { t, directory, policy } = s;
    const send = throughApp(t);
    await makeSecret(t);
    const key = await enroll(send);
    const [host] = await t.store.hosts.list();
    await makeDevice(s, 1, { host_id: host!.id });
    await runJob(t.services, "directory_compliance");
    const answer = async (rows: object[]) => {
      const queries = { [`svc_policy_query_${policy.id}`]: rows };
      await send("/api/v1/qengine/distributed/write", { node_key: key, queries, statuses: {}, messages: {} });
      await runJob(t.services, "directory_compliance");
    };
    await answer([{ "1": "1" }]);
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: true, isManaged: true });
    await answer([]);
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: false, isManaged: true });
  });

  it("of a device that several hosts name needs all of them, and a deleted host's device is not managed", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    const [ann, bob] = [await makeDevice(s, 1), await makeDevice(s, 1)];
    await makeResults(t, ann, { failing: [policy] });
    await makeResults(t, bob, { passing: [policy] });
    await report();
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: false, isManaged: true });
    expect((await t.delete(`/hosts/${ann}`)).status).toBe(200);
    await report();
    expect(directory.devices.get(guid(1)), "only the other host is left").toEqual({
      isCompliant: true,
      isManaged: true,
    });
    expect((await t.delete(`/hosts/${bob}`)).status).toBe(200);
    await report();
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: false, isManaged: false });
    expect(await t.store.directoryDevices.count()).toBe(0);
  });

  it("is visible to those who may see the host, and the connection to those with a global role", async () => {
    const s = await start(engine);
    const { t } = s;
    const [mine, other] = [await makeTeam(t), await makeTeam(t)];
    const host = await makeHost(t, { team_id: mine.id });
    const path = `/hosts/${host.id}/conditional_access`;
    const insider = await makeUser(t, { teams: [{ id: mine.id, role: "observer" }] });
    const outsider = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect([(await insider.get(path)).status, (await outsider.get(path)).status]).toEqual([200, 404]);
    expect([(await insider.get(DIRECTORY)).status, (await t.as(null).get(path)).status]).toEqual([403, 401]);
    expect((await t.get("/hosts/999999/conditional_access")).status).toBe(404);
    expect(await shown(t, host.id)).toEqual({ enabled: false, blocking_policies: [], directory: null });
  });
});

describe.each(rulesEngines)("compliance in the directory, its rules on %s", (engine) => {
  it("is not reported of devices of another directory, or without a connection", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    const id = await makeDevice(s, 1);
    await makeResults(t, id, { passing: [policy] });
    await t.store.directoryDevices.update({ where: eq("host_id", id), set: { tenant_id: guid(99) } });
    await report();
    expect((await shown(t, id)).directory).toMatchObject({
      status: "unreported",
      last_error: "the device belongs to another directory than the connected one",
    });
    await t.store.directoryDevices.update({ where: eq("host_id", id), set: { tenant_id: TENANT } });
    await t.patch("/config", { integrations: { conditional_access_enabled: false } });
    await t.delete(DIRECTORY);
    await t.patch("/config", { integrations: { conditional_access_enabled: true } });
    await report();
    expect(directory.batches).toEqual([]);
  });

  it("of hosts that conditional access was never turned on for stays as it is", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    const team = await makeTeam(t);
    const host = await makeHost(t, { team_id: team.id });
    await makeDevice(s, 1, { host_id: host.id });
    await makeResults(t, host.id, { failing: [policy] });
    await report();
    expect(directory.batches).toEqual([]);
  });

  it("is written to an extension attribute if the operator wants that", async () => {
    const s = await start(engine, { directory_compliance_attribute: 15 });
    const { t, directory, policy, report } = s;
    const id = await makeDevice(s, 1);
    await makeResults(t, id, { failing: [policy] });
    await report();
    const attribute = (value: string) => ({ extensionAttributes: { extensionAttribute15: value } });
    expect(directory.devices.get(guid(1))).toEqual(attribute("svc:noncompliant"));
    await makeResults(t, id, { passing: [policy] });
    await report();
    expect(directory.devices.get(guid(1))).toEqual(attribute("svc:compliant"));
  });

  it("pauses when the credentials are not accepted, longer each time, and goes on with better ones", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    await makeResults(t, await makeDevice(s, 1), { passing: [policy] });
    directory.secret = "rotated";
    const tokens = () => directory.requests.filter(({ url }) => url.pathname.startsWith("/login/")).length;
    const before = tokens();
    await report();
    await report();
    expect(tokens() - before).toBe(1);
    expect(await (await t.get(DIRECTORY)).json()).toMatchObject({
      last_error: expect.stringContaining("does not accept the credentials"),
    });
    expect(
      (await t.request("PUT", "/directory_graph_credentials", credentials({ client_secret: "rotated" }))).status,
    ).toBe(200);
    t.clock.advance(hours(1));
    await report();
    expect(directory.devices.get(guid(1))).toMatchObject({ isCompliant: true });
  });

  it("of deleted hosts is forgotten if it was never reported", async () => {
    const s = await start(engine);
    const { t } = s;
    const id = await makeDevice(s, 1);
    await t.delete(`/hosts/${id}`);
    await t.patch("/config", { integrations: { conditional_access_enabled: false } });
    await t.delete(DIRECTORY);
    await vi.waitFor(async () => {
      await runJob(t.services, "conditional_access_cleanup");
      expect(await t.store.directoryDevices.count()).toBe(0);
    });
  });

  it("takes replies that name no device, or are no JSON, for failures", async () => {
    const s = await start(engine);
    const { t, directory, policy, report } = s;
    await makeResults(t, await makeDevice(s, 1), { passing: [policy] });
    for (const body of ['{"responses":[]}', "no JSON", '{"responses":[{"id":"1","status":"204"}]}']) {
      directory.fault = (path) => (path === "/graph/$batch" ? { status: 200, body } : null);
      await report();
      expect(await (await t.get(DIRECTORY)).json()).toMatchObject({ devices: { unreported: 1 } });
      t.clock.advance(hours(2));
    }
    directory.fault = () => null;
    await report();
    expect(await (await t.get(DIRECTORY)).json()).toMatchObject({ devices: { compliant: 1, failing: 0 } });
  });

  it("is found by agents: by certificate on Macs, by the join on Windows; a host that becomes another device leaves one", async () => {
    const s = await start(engine);
    const { t, directory, policy } = s;
    const send = throughApp(t);
    await makeSecret(t);
    const key = await enroll(send);
    const [host] = await t.store.hosts.list();
    const report = async (name: string, row: object) => {
      const queries = { [`svc_detail_query_${name}`]: [row] };
      await send("/api/v1/qengine/distributed/write", { node_key: key, queries, statuses: {}, messages: {} });
    };
    await t.store.hosts.update({ where: eq("id", host!.id), set: { platform: "darwin" } });
    await t.store.notify("svc_hosts", "*");
    const mac = { device_id: guid(1).toUpperCase(), tenant_id: "", user_principal_name: "ann@example.com" };
    await report("directory_device_macos", mac);
    const device = () => t.store.directoryDevices.first({ where: eq("host_id", host!.id) });
    expect(await device()).toMatchObject({ device_id: guid(1), tenant_id: "", user_principal_name: "ann@example.com" });
    await report("directory_device_macos", { ...mac, user_principal_name: "" });
    expect(await device(), "the keychain is locked").toMatchObject({ user_principal_name: "ann@example.com" });
    await report("directory_device_macos", { ...mac, device_id: "no-guid' or 1" });
    expect(await device()).toMatchObject({ device_id: guid(1) });

    await report("directory_device_sso", { ...mac, device_id: guid(3) });
    expect(await device(), "the extension's device").toMatchObject({ device_id: guid(3) });
    expect(await t.store.directoryDevices.count(), "of a device that was never reported, nothing is left").toBe(1);
    await report("directory_device_macos", mac);

    directory.devices.set(guid(1), {}).set(guid(2), {});
    await makeResults(t, host!.id, { passing: [policy] });
    await runJob(t.services, "directory_comparison");
    await report("directory_device_macos", { ...mac, device_id: guid(2) });
    await runJob(t.services, "directory_compliance");
    expect(directory.devices.get(guid(1))).toEqual({ isCompliant: false, isManaged: false });
    expect(directory.devices.get(guid(2))).toEqual({ isCompliant: true, isManaged: true });
  });
});

describe("compliance in the directory on two servers", () => {
  it("is sent by one of them at a time, and by the other when one has died", async () => {
    const s = await start("postgres");
    const { t, directory, policy } = s;
    for (let n = 1; n <= 120; n++) await makeResults(t, await makeDevice(s, n), { passing: [policy] });
    await withSecondServer(t, async (there) => {
      const run = ({ services }: TestApp) => reportDue(services, new AbortController().signal);
      await Promise.all([run(t), run(there)]);
      expect(
        directory.batches.reduce((sum, size) => sum + size, 0),
        "each device once",
      ).toBe(120);
      expect([...directory.devices.values()].every(({ isCompliant }) => isCompliant)).toBe(true);

      // Claimed by a server that was killed before it sent anything.
      const dead = { runner: "dead", runner_until: new Date(t.clock.now() + seconds(60)).toISOString(), due_at: null };
      await t.store.directoryDevices.update({ where: eq("device_id", guid(1)), set: { ...dead, reported: "" } });
      directory.devices.set(guid(1), {});
      await run(there);
      expect(directory.devices.get(guid(1))).toEqual({});
      t.clock.advance(seconds(61));
      await run(there);
      expect(directory.devices.get(guid(1))).toEqual({ isCompliant: true, isManaged: true });
    });
  });
});
