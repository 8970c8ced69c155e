// Charts of what was: who was online, and which hosts vulnerabilities affected.
import { beforeEach, describe, expect, it } from "vitest";
import type { Chart } from "../../src/api/inventory/charts.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { HostBits } from "../../src/server/hosts/history/host-set.ts";
import { addToHour, hourOf } from "../../src/server/hosts/history/hours.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makeLabel,
  makeSoftware,
  makeTeam,
  makeUser,
  makeVulnerabilities,
} from "../support/make.ts";
import { withSecondServer } from "../support/second-server.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Caller = Pick<TestApp, "get">;
async function chart(t: Caller, path: string): Promise<Chart> {
  const response = await t.get(`/charts/${path}`);
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as Chart;
}
const valuesOf = async (t: Caller, path: string) => (await chart(t, path)).data.map(({ value }) => value);
const lastOf = async (t: Caller, path: string) => (await valuesOf(t, path)).at(-1);
const statusOf = async (t: Caller, path: string) => (await t.get(`/charts/${path}`)).status;
const sample = (t: TestApp) => runJob(t.services, "history_samples");

/** The host calls now, and is online for `seconds`. */
async function call(t: TestApp, hostId: number, seconds = 70) {
  const before = await t.store.hostSeen.get(hostId);
  const seen_time = t.clock.iso();
  const isBack = before === null || before.online_until < seen_time;
  await t.store.hostSeen.upsert(
    [
      {
        id: hostId,
        seen_time,
        online_until: new Date(t.clock.now() + seconds * 1000).toISOString(),
        online_since: isBack ? seen_time : before.online_since,
      },
    ],
    { on: ["id"], returning: [] },
  );
}

describe.each(bothEngines)("charts on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    // The clock stands at 2026-03-01T12:00:00Z.
    t = await startApp({ engine });
  });

  it("show how many hosts were online at any moment of an hour, and of the hours of a point", async () => {
    const [a, b] = [await makeHost(t), await makeHost(t)];
    t.clock.advance(10 * MINUTE);
    await call(t, a.id);
    await sample(t);
    t.clock.advance(10 * MINUTE);
    await call(t, b.id);
    await sample(t);
    t.clock.advance(HOUR);
    await call(t, b.id);
    await sample(t);

    const reply = await chart(t, "uptime?days=1&resolution=1");
    expect(reply).toMatchObject({ metric: "uptime", total_hosts: 2, resolution: "hourly", days: 1 });
    expect(reply.data).toHaveLength(24);
    expect(reply.data.slice(-2)).toEqual([
      { timestamp: "2026-03-01T12:00:00.000Z", value: 2 },
      { timestamp: "2026-03-01T13:00:00.000Z", value: 1 },
    ]);
    expect(reply.data.slice(0, -2).every(({ value }) => value === 0)).toBe(true);
    expect(await valuesOf(t, "uptime?days=1&resolution=24")).toEqual([2]);
    expect(await valuesOf(t, `uptime?days=1&resolution=24&include_host_ids=${a.id}`)).toEqual([1]);
    expect((await valuesOf(t, `uptime?days=1&resolution=1&include_host_ids=${a.id}`)).slice(-2)).toEqual([1, 0]);
  });

  it("show a host that was online only between two samples", async () => {
    const host = await makeHost(t);
    await sample(t);
    t.clock.advance(50 * MINUTE);
    await call(t, host.id);
    t.clock.advance(15 * MINUTE);
    await sample(t);
    expect((await valuesOf(t, "uptime?days=1&resolution=1")).slice(-2)).toEqual([1, 0]);
  });

  it("show which hosts a critical vulnerability affected, by the last sample", async () => {
    const [a, b] = [await makeHost(t), await makeHost(t)];
    const old = await makeSoftware(t, "Firefox", "1.0");
    const fixed = await makeSoftware(t, "Firefox", "2.0");
    await makeVulnerabilities(t, { software: old.id, cves: ["CVE-2026-0001"], known: { cvss_score: 9.8 } });
    await makeInventory(t, a.id, [old]);
    await makeInventory(t, b.id, [old]);
    await sample(t);
    expect(await valuesOf(t, "cve?days=2")).toEqual([0, 2]);

    t.clock.advance(DAY);
    await makeInventory(t, a.id, [fixed]);
    await sample(t);
    t.clock.advance(DAY);
    await makeInventory(t, b.id, [fixed]);
    await sample(t);
    expect(await valuesOf(t, "cve?days=3")).toEqual([2, 1, 0]);
    // What has not changed is not written again.
    const rows = await t.store.vulnerableHosts.list();
    expect(rows.map(({ valid_to }) => valid_to)).toEqual([t.clock.iso()]);
    // Versions are recorded, so that a chart does not change when they are deleted.
    await t.store.software.delete({ op: "all" });
    expect(await valuesOf(t, "cve?days=3")).toEqual([2, 1, 0]);
  });

  it("delete what was recorded when it is turned off, for all hosts or for a team", async () => {
    const team = await makeTeam(t, "Lab");
    const [a, b] = [await makeHost(t, { team_id: team.id }), await makeHost(t)];
    for (const { id } of [a, b]) await call(t, id);
    const version = await makeSoftware(t, "Firefox", "1.0");
    await makeVulnerabilities(t, { software: version.id, cves: ["CVE-2026-0001"], known: { cvss_score: 9.8 } });
    for (const { id } of [a, b]) await makeInventory(t, id, [version]);
    await sample(t);
    expect([await lastOf(t, "uptime"), await lastOf(t, "cve")]).toEqual([2, 2]);

    const off = { features: { historical_data: { uptime: false, vulnerabilities: false } } };
    expect((await t.patch(`/teams/${team.id}`, off)).status).toBe(200);
    // At once, even before the data is deleted.
    expect([await lastOf(t, "uptime"), await lastOf(t, "cve")]).toEqual([1, 1]);
    expect((await chart(t, "uptime")).total_hosts).toBe(2);
    await sample(t);
    t.clock.advance(5 * MINUTE);
    await call(t, a.id);
    await sample(t);
    const on = { features: { historical_data: { uptime: true, vulnerabilities: true } } };
    expect((await t.patch(`/teams/${team.id}`, on)).status).toBe(200);
    expect([await lastOf(t, "uptime"), await lastOf(t, "cve")]).toEqual([1, 1]);
    t.clock.advance(5 * MINUTE);
    await sample(t);
    expect(await lastOf(t, "uptime")).toBe(2);

    expect((await t.patch("/config", off)).status).toBe(200);
    expect([await lastOf(t, "uptime"), await lastOf(t, "cve")]).toEqual([0, 0]);
    await sample(t);
    const { historyHours, vulnerableHosts, vulnerableSources } = t.store;
    expect(await Promise.all([historyHours.count(), vulnerableHosts.count(), vulnerableSources.count()])).toEqual([
      0, 0, 0,
    ]);
    // Turned off and on between two runs of the job: what is recorded from now on stays.
    expect((await t.patch("/config", on)).status).toBe(200);
    t.clock.advance(HOUR);
    await sample(t);
    expect(await lastOf(t, "cve")).toBe(2);
    const types = (await t.store.activities.list()).flatMap(({ type, details }) =>
      type.endsWith("historical_dataset") ? [[type.split("_")[0], (details as { team: string | null }).team]] : [],
    );
    expect(types).toEqual(
      [
        ["disabled", "Lab"],
        ["enabled", "Lab"],
        ["disabled", null],
        ["enabled", null],
      ].flatMap((entry) => [entry, entry]),
    );
  });

  it("keep 31 days and the current hour", async () => {
    const host = await makeHost(t);
    await call(t, host.id);
    await sample(t);
    t.clock.advance(31 * DAY);
    await runJob(t.services, "history_cleanup");
    expect(await t.store.historyHours.count()).toBe(1);
    t.clock.advance(HOUR);
    await runJob(t.services, "history_cleanup");
    expect(await t.store.historyHours.count()).toBe(0);
  });

  it("lose no host that servers record at the same time", async () => {
    const hosts = await Promise.all(Array.from({ length: 20 }, () => makeHost(t)));
    const start = hourOf(t.clock.now());
    const record = (there: TestApp, { id }: { id: number }) =>
      addToHour(there.store, "uptime", start, HostBits.of([id]));
    if (engine === "postgres")
      await withSecondServer(t, async (there) => {
        await Promise.all(hosts.map((host, i) => record(i % 2 === 0 ? t : there, host)));
      });
    else await Promise.all(hosts.map((host) => record(t, host)));
    expect(await lastOf(t, "uptime")).toBe(20);
    expect(await t.store.historyHours.count()).toBe(1);
  });
});

describe.each(rulesEngines)("the rules of charts on %s", (engine) => {
  it("limit a chart to the teams, labels, platforms and hosts", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    const a = await makeHost(t, { team_id: team.id, platform: "darwin" });
    const b = await makeHost(t, { team_id: other.id, platform: "ubuntu" });
    const c = await makeHost(t, { platform: "rhel" });
    for (const { id } of [a, b, c]) await call(t, id);
    const label = await makeLabel(t, "Some", [a.id, c.id]);
    await sample(t);

    expect(await lastOf(t, "uptime")).toBe(3);
    expect(await lastOf(t, `uptime?team_id=${team.id}`)).toBe(1);
    expect(await lastOf(t, "uptime?team_id=0")).toBe(1);
    expect(await lastOf(t, `uptime?label_ids=${label.id}`)).toBe(2);
    expect(await lastOf(t, `uptime?label_ids=${label.id},999999`)).toBe(2);
    expect(await lastOf(t, "uptime?platforms=linux")).toBe(2);
    expect(await lastOf(t, "uptime?platforms=darwin,rhel")).toBe(2);
    expect(await lastOf(t, `uptime?include_host_ids=${a.id},${b.id}`)).toBe(2);
    expect(await lastOf(t, `uptime?exclude_host_ids=${a.id},${b.id}`)).toBe(1);
    expect(
      await chart(t, `uptime?include_host_ids=${a.id},${b.id}&exclude_host_ids=${b.id}&team_id=${team.id}`),
    ).toMatchObject({
      total_hosts: 1,
      filters: {
        team_id: team.id,
        label_ids: [],
        include_host_ids: [a.id, b.id],
        exclude_host_ids: [b.id],
        platforms: [],
      },
    });

    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect(await chart(observer, "uptime")).toMatchObject({ total_hosts: 1 });
    expect(await lastOf(observer, "uptime")).toBe(1);
    expect(await lastOf(observer, `uptime?include_host_ids=${a.id},${b.id},${c.id}`)).toBe(1);
    expect(await statusOf(observer, `uptime?team_id=${other.id}`)).toBe(403);
    expect(await statusOf(observer, "uptime?team_id=0")).toBe(403);
    expect(await statusOf(await makeUser(t, "gitops"), "uptime")).toBe(403);
    expect(await statusOf(t.as(""), "uptime")).toBe(401);

    // Only hosts that are visible now count.
    expect((await t.delete(`/hosts/${c.id}`)).status).toBe(200);
    expect(await chart(t, "uptime")).toMatchObject({ total_hosts: 2 });
    expect(await lastOf(t, "uptime")).toBe(2);
  });

  it("refuse parameters that are none", async () => {
    const t = await startApp({ engine, shared: false });
    const wrong: [string, string][] = [
      ["nothing", "metric"],
      ["uptime?days=0", "days"],
      ["uptime?days=32", "days"],
      ["uptime?days=x", "days"],
      ["uptime?resolution=5", "resolution"],
      ["uptime?resolution=48", "resolution"],
      ["uptime?resolution=-1", "resolution"],
      ["uptime?tz_offset=900", "tz_offset"],
      ["uptime?tz_offset=x", "tz_offset"],
      ["uptime?team_id=-1", "team_id"],
      ["uptime?label_ids=1,x", "label_ids"],
      ["uptime?include_host_ids=0", "include_host_ids"],
      ["uptime?exclude_host_ids=1.5", "exclude_host_ids"],
      ["uptime?severity_min=5", "severity_min"],
      ["cve?severity_min=11", "severity_min"],
      ["cve?severity_min=8&severity_max=7", "severity_min"],
      ["cve?epss_min=2", "epss_min"],
      ["cve?epss_max=x", "epss_max"],
      ["cve?software_filters=os,games", "software_filters"],
      ["cve?has_known_exploit=maybe", "has_known_exploit"],
      ["cve?exclude_vulnerabilities=CVE-1", "exclude_vulnerabilities"],
      ["uptime?colour=red", "colour"],
    ];
    for (const [path, name] of wrong) {
      const response = await t.get(`/charts/${path}`);
      expect([path, response.status, (await errorOf(response)).errors?.[0]?.name]).toEqual([path, 400, name]);
    }
  });

  it("begin points at full hours and days of the time zone", async () => {
    const t = await startApp({ engine });
    const timestamps = async (query: string) =>
      (await chart(t, `uptime?${query}`)).data.map(({ timestamp }) => timestamp);
    expect(await timestamps("days=2&resolution=24")).toEqual(["2026-02-28T00:00:00.000Z", "2026-03-01T00:00:00.000Z"]);
    // Los Angeles, Delhi, Auckland: there it is 04:00, 17:30 and 01:00 of the next day.
    expect((await timestamps("days=1&resolution=24&tz_offset=480"))[0]).toBe("2026-03-01T08:00:00.000Z");
    expect((await timestamps("days=1&resolution=24&tz_offset=-330"))[0]).toBe("2026-02-28T18:30:00.000Z");
    expect((await timestamps("days=1&resolution=24&tz_offset=-780"))[0]).toBe("2026-03-01T11:00:00.000Z");
    expect((await timestamps("days=1&resolution=1&tz_offset=-330")).at(-1)).toBe("2026-03-01T11:30:00.000Z");
    for (const [resolution, points, text] of [
      [0, 56, "3-hour"],
      [1, 168, "hourly"],
      [2, 84, "2-hour"],
      [3, 56, "3-hour"],
      [4, 42, "4-hour"],
      [6, 28, "6-hour"],
      [8, 21, "8-hour"],
      [12, 14, "12-hour"],
      [24, 7, "daily"],
    ] as const) {
      const reply = await chart(t, `uptime?resolution=${resolution}`);
      expect([reply.resolution, reply.data.length, reply.days]).toEqual([text, points, 7]);
      expect(Date.parse(reply.data.at(-1)!.timestamp)).toBeLessThanOrEqual(t.clock.now());
    }
    expect((await chart(t, "uptime?days=31&resolution=24")).data).toHaveLength(31);
  });

  it("select vulnerabilities by severity, exploits, probability, software and name", async () => {
    const t = await startApp({ engine });
    const affected = async (name: string, cve: string, known: object, more: object = {}) => {
      const host = await makeHost(t);
      const version = await makeSoftware(t, name, "1.0");
      await t.store.software.update({ where: { op: "eq", column: "id", value: version.id }, set: more });
      await makeVulnerabilities(t, { software: version.id, cves: [cve], known });
      await makeInventory(t, host.id, [version]);
      return host;
    };
    await affected("Google Chrome", "CVE-2026-0001", {
      cvss_score: 9.8,
      epss_probability: 0.9,
      cisa_known_exploit: true,
    });
    await affected("Microsoft Word", "CVE-2026-0002", { cvss_score: 9, epss_probability: 0.2 });
    await affected(
      "Acrobat Reader",
      "CVE-2026-0003",
      { cvss_score: 7.5, epss_probability: 0.01 },
      { vendor: "Adobe Inc." },
    );
    await affected("Tool", "CVE-2026-0004", { cvss_score: 3 });
    const [system] = await t.store.osVersions.insertMany([{ name: "macOS", version: "14.0", platform: "darwin" }]);
    await makeHost(t, { os_version_id: system!.id });
    await makeVulnerabilities(t, { os: system!.id, cves: ["CVE-2026-0005"], known: { cvss_score: 10 } });
    await sample(t);

    expect(await lastOf(t, "cve")).toBe(3);
    for (const [query, value] of [
      ["severity_min=7", 4],
      ["severity_max=8", 2],
      ["severity_min=0", 5],
      ["severity_min=0&severity_max=10", 5],
      ["severity_min=7&severity_max=9", 2],
      ["has_known_exploit=true", 1],
      ["epss_min=0.5", 1],
      ["epss_min=0.1&epss_max=0.5", 1],
      ["severity_min=0&epss_max=0.1", 1],
      ["software_filters=os", 1],
      ["software_filters=browsers,office", 2],
      ["software_filters=adobe", 0],
      ["software_filters=adobe&severity_min=0", 1],
      ["exclude_vulnerabilities=CVE-2026-0001,cve-2026-0005", 1],
    ] as const)
      expect([query, await lastOf(t, `cve?${query}`)]).toEqual([query, value]);

    // The defaults of the chart, each of which a request replaces.
    const set = (value: object) =>
      t.patch("/config", { features: { vulnerability_exposure_historical_reporting: value } });
    expect((await set({ cvss_min: 7, epss_max: 50, exclude_vulnerabilities: ["CVE-2026-0002"] })).status).toBe(200);
    expect(await chart(t, "cve")).toMatchObject({
      filters: {
        software_filters: null,
        severity_min: 7,
        severity_max: null,
        epss_min: null,
        epss_max: 0.5,
        has_known_exploit: false,
        exclude_vulnerabilities: ["CVE-2026-0002"],
      },
    });
    expect(await lastOf(t, "cve")).toBe(1);
    expect(await lastOf(t, "cve?exclude_vulnerabilities=")).toBe(2);
    expect(await lastOf(t, "cve?epss_max=1")).toBe(2);
    for (const [value, name] of [
      [{ cvss_min: 11 }, "cvss_min"],
      [{ cvss_min: 9, cvss_max: 8 }, "cvss_min"],
      [{ exclude_vulnerabilities: ["x"] }, "exclude_vulnerabilities.0"],
    ] as const) {
      const response = await set(value);
      expect(response.status).toBe(422);
      expect((await errorOf(response)).errors?.[0]?.name).toBe(
        `features.vulnerability_exposure_historical_reporting.${name}`,
      );
    }
  });

  it("show phones by their contact with device management", async () => {
    const t = await startApp({ engine, settings: { detail_interval: "1h" } });
    const phone = await makeHost(t, { platform: "ios", created_at: "2026-01-01T00:00:00.000Z" });
    await t.store.hostMdm.insert({ id: phone.id, enrollment_status: "On (manual)", checked_in_at: t.clock.iso() });
    await sample(t);
    t.clock.advance(90 * MINUTE);
    await sample(t);
    t.clock.advance(2 * HOUR);
    await sample(t);
    expect((await valuesOf(t, "uptime?days=1&resolution=1")).slice(-4)).toEqual([1, 1, 0, 0]);
  });

  it("need the premium tier for vulnerabilities", async () => {
    const t = await startApp({ engine, tier: "free" });
    await makeHost(t);
    await sample(t);
    expect(await statusOf(t, "uptime")).toBe(200);
    expect(await statusOf(t, "cve")).toBe(402);
    const response = await t.patch("/config", {
      features: { vulnerability_exposure_historical_reporting: { cvss_min: 7 } },
    });
    expect(response.status).toBe(422);
    // The switches are free.
    const off = { features: { historical_data: { vulnerabilities: false } } };
    expect((await t.patch("/config", off)).status).toBe(200);
  });
});
