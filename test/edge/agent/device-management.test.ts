// Device management and Munki as reported by agents.
import { beforeEach, describe, expect, test } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { minutes } from "../../../src/server/platform/core/clock.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { enroll, enrollment, makeSecret, type Send, throughApp } from "./agents.ts";

const WRITE = "/api/v1/qengine/distributed/write";
const HOUR = 3_600_000;
const jamf = { enrolled: "true", installed_from_dep: "false", server_url: "https://x.jamfcloud.com/mdm?id=7" };

const windowsKey = (key: string, values: Record<string, string>) =>
  Object.entries(values).map(([name, data]) => ({ key, name, data }));
const intune = windowsKey("A", {
  UPN: "ada@example.com",
  DiscoveryServiceFullURL: "https://enrollment.manage.microsoft.com/Discovery.svc",
  ProviderID: "MS DM Server",
  EnrollmentState: "1",
});

describe.each(rulesEngines)("device management reported by agents on %s", (engine) => {
  let t: TestApp;
  let send: Send;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    send = throughApp(t);
    await makeSecret(t);
  });

  async function newHost(platform: "darwin" | "windows" | "ubuntu", name = "host-1"): Promise<string> {
    const made = enrollment({ host_identifier: name });
    const os = { ...made.host_details.os_version, platform, name: platform };
    return enroll(send, { host_identifier: name, host_details: { ...made.host_details, os_version: os } });
  }
  const write = async (node_key: string, queries: object, statuses: object = {}) => {
    const reply = await send(WRITE, { node_key, queries, statuses, messages: {}, stats: {} });
    expect(reply).toMatchObject({ status: 200, text: "{}" });
  };
  const mac = (key: string, row: object) => write(key, { svc_detail_query_mdm_darwin: [row] });
  const rowOf = async () => (await t.store.hostMdm.list())[0];
  // biome-ignore lint/suspicious/noExplicitAny: the body of any endpoint
  const shown = async (): Promise<any> => {
    const { id } = (await t.store.hosts.list())[0]!;
    return ((await (await t.get(`/hosts/${id}`)).json()) as { host: object }).host;
  };

  test.each([
    [{ ...jamf, installed_from_dep: "true" }, "On (automatic)", "Jamf"],
    [jamf, "On (manual)", "Jamf"],
    [{ enrolled: "false", installed_from_dep: "true", server_url: "" }, "Pending", ""],
    [{ enrolled: "false", installed_from_dep: "false", server_url: "" }, "Off", ""],
    [{ enrolled: "1", installed_from_dep: "0", server_url: "https://mdm.example.com" }, "On (manual)", ""],
  ])("a Mac that reports %j is %s", async (row, status, name) => {
    await mac(await newHost("darwin"), row);
    expect((await shown()).mdm).toMatchObject({
      enrollment_status: status,
      name,
      server_url: row.server_url === "" ? null : row.server_url.split("?")[0],
      connected_to_svc: false,
    });
  });

  test("hosts of one product share its row, and a host whose product changes gets another row", async () => {
    const [a, b] = [await newHost("darwin", "a"), await newHost("darwin", "b")];
    await Promise.all([mac(a, jamf), mac(b, jamf)]);
    expect(await t.store.mdmSolutions.list()).toMatchObject([
      { name: "Jamf", server_url: "https://x.jamfcloud.com/mdm" },
    ]);
    await mac(b, { ...jamf, server_url: "https://acme.kandji.io/mdm" });
    expect((await t.store.mdmSolutions.list()).map(({ name }) => name)).toEqual(["Jamf", "Kandji"]);
    const rows = await t.store.hostMdm.list();
    expect(rows.map(({ solution_id }) => solution_id).sort()).toEqual(
      (await t.store.mdmSolutions.list()).map(({ id }) => id).sort(),
    );
  });

  test("a product whose row was deleted in the meantime is created again", async () => {
    const key = await newHost("darwin");
    await mac(key, jamf);
    await t.store.mdmSolutions.delete({ op: "all" });
    expect((await rowOf())?.solution_id).toBeNull();
    await mac(key, jamf);
    expect((await shown()).mdm).toMatchObject({ name: "Jamf" });
  });

  test("an unchanged result writes nothing, and a failed one keeps the known values", async () => {
    const key = await newHost("darwin");
    const munki = [{ version: "6.3", errors: "boom", warnings: "" }];
    const answer = { svc_detail_query_mdm_darwin: [jamf], svc_detail_query_munki: munki };
    await write(key, answer);
    const before = [await t.store.hostMdm.list(), await t.store.hostMunki.list(), await t.store.hostDetails.list()];
    expect(before.map((rows) => rows.length)).toEqual([1, 1, 1]);
    t.clock.advance(HOUR);
    await write(key, answer);
    await write(
      key,
      { svc_detail_query_mdm_darwin: [], svc_detail_query_munki: [] },
      { svc_detail_query_mdm_darwin: 1, svc_detail_query_munki: 1 },
    );
    expect([await t.store.hostMdm.list(), await t.store.hostMunki.list(), await t.store.hostDetails.list()]).toEqual(
      before,
    );
  });

  test("the server's own knowledge of an enrollment is kept when an agent reports it", async () => {
    const key = await newHost("darwin");
    const { id } = (await t.store.hosts.list())[0]!;
    const enrolled_at = t.clock.iso();
    await t.store.hostMdm.insert({ id, enrollment_status: "On (personal)", connected_to_svc: true, enrolled_at });
    await mac(key, jamf);
    expect(await rowOf()).toMatchObject({ enrollment_status: "On (personal)", connected_to_svc: true, enrolled_at });
    expect(await shown()).toMatchObject({ last_mdm_enrolled_at: enrolled_at, mdm: { connected_to_svc: true } });
    const off = { enrolled: "false", installed_from_dep: "false", server_url: "" };
    await mac(key, off);
    expect(await rowOf(), "the agent has asked before the enrollment").toMatchObject({
      enrollment_status: "On (personal)",
    });
    t.clock.advance(minutes(6));
    await mac(key, off);
    expect(await rowOf()).toMatchObject({ enrollment_status: "Off", solution_id: null });
  });

  test("Windows hosts report it from the registry; a server's enrollment is stored and not shown", async () => {
    const key = await newHost("windows");
    const kind = (data: string) => ({ svc_detail_query_os_windows: [{ name: "InstallationType", data }] });
    await write(key, { svc_detail_query_mdm_windows: intune, ...kind("Client") });
    expect((await shown()).mdm).toMatchObject({ enrollment_status: "On (manual)", name: "Intune" });
    await write(key, { svc_detail_query_mdm_windows: intune, ...kind("Server Core") });
    expect(await rowOf()).toMatchObject({ enrollment_status: "On (manual)", is_server: true });
    expect((await shown()).mdm).toMatchObject({ enrollment_status: null, name: "", server_url: null });
    // The kind was not reported this time, so it is kept.
    await write(key, { svc_detail_query_mdm_windows: [] });
    expect(await rowOf()).toMatchObject({ enrollment_status: "Off", is_server: true });
  });

  test("a Linux host's result for a macOS query is ignored", async () => {
    const key = await newHost("ubuntu");
    await write(key, { svc_detail_query_mdm_darwin: [jamf], svc_detail_query_munki: [{ version: "6" }] });
    expect(await t.store.hostMdm.count()).toBe(0);
    expect(await t.store.hostMunki.count()).toBe(0);
  });

  test("Munki issues have the time since which the host has them, and are deleted with it", async () => {
    const key = await newHost("darwin");
    const munki = (errors: string, warnings: string, version = "6.3") =>
      write(key, { svc_detail_query_munki: [{ version, errors, warnings }] });
    const first = t.clock.iso();
    await munki(" boom ; crash;;boom", "slow");
    const named = async () => {
      const [row] = await t.store.hostMunki.list();
      const issues = await t.store.munkiIssues.getMany(row?.issue_ids ?? []);
      return issues.map(({ id, name, type }) => `${type} ${name} ${row?.since[String(id)]}`).sort();
    };
    expect(await named()).toEqual([`error boom ${first}`, `error crash ${first}`, `warning slow ${first}`]);
    t.clock.advance(HOUR);
    await munki("boom", "boom");
    expect(await named()).toEqual([`error boom ${first}`, `warning boom ${t.clock.iso()}`]);
    t.clock.advance(HOUR);
    const before = await named();
    await munki("boom", "boom", "6.4");
    expect(await named()).toEqual(before);
    expect(await t.store.hostMunki.list()).toMatchObject([{ version: "6.4", updated_at: t.clock.iso() }]);
    await write(key, { svc_detail_query_munki: [] });
    expect(await t.store.hostMunki.count()).toBe(0);
  });

  test("the number of issues that a host can report is limited", async () => {
    const key = await newHost("darwin");
    const errors = Array.from({ length: 5_000 }, (_, i) => `issue ${i}`).join(";");
    await write(key, { svc_detail_query_munki: [{ version: "6", errors, warnings: "" }] });
    expect((await t.store.hostMunki.list())[0]?.issue_ids).toHaveLength(200);
  });

  test("products and issues that no host reports any more are deleted by the second clean-up", async () => {
    const key = await newHost("darwin");
    const munki = (errors: string) => write(key, { svc_detail_query_munki: [{ version: "6", errors, warnings: "" }] });
    await mac(key, jamf);
    await munki("boom;at 12:00");
    await munki("boom");
    await mac(key, { ...jamf, server_url: "https://acme.kandji.io" });
    const left = async () => [
      (await t.store.mdmSolutions.list()).map(({ name }) => name),
      (await t.store.munkiIssues.list()).map(({ name }) => name),
    ];
    await runJob(t.services, "device_management");
    expect(await left()).toEqual([
      ["Jamf", "Kandji"],
      ["boom", "at 12:00"],
    ]);
    t.clock.advance(minutes(30));
    await runJob(t.services, "device_management");
    expect(await left()).toEqual([["Kandji"], ["boom"]]);
    // The cached entries are gone too: if they are reported again, they are created again.
    await munki("boom;at 12:00");
    await mac(key, jamf);
    expect(await left()).toEqual([
      ["Kandji", "Jamf"],
      ["boom", "at 12:00"],
    ]);
    const { issue_ids } = (await t.store.hostMunki.list())[0]!;
    expect(await t.store.munkiIssues.getMany(issue_ids)).toHaveLength(2);
  });

  test("a host whose issues were lost gets them back with its next result", async () => {
    const key = await newHost("darwin");
    const answer = { svc_detail_query_munki: [{ version: "6", errors: "boom", warnings: "" }] };
    await write(key, answer);
    await t.store.munkiIssues.delete({ op: "all" });
    await runJob(t.services, "device_management");
    await write(key, answer);
    const { issue_ids } = (await t.store.hostMunki.list())[0]!;
    expect(await t.store.munkiIssues.getMany(issue_ids)).toMatchObject([{ name: "boom" }]);
  });

  test("deleting a host leaves nothing behind", async () => {
    const key = await newHost("darwin");
    await write(key, { svc_detail_query_mdm_darwin: [jamf], svc_detail_query_munki: [{ version: "6" }] });
    const { id } = (await t.store.hosts.list())[0]!;
    expect((await t.delete(`/hosts/${id}`)).status).toBe(200);
    expect(await t.store.hostMdm.count()).toBe(0);
    expect(await t.store.hostMunki.count()).toBe(0);
  });
});
