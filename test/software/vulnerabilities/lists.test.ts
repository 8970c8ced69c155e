// Lists of vulnerabilities, and what lists of software, operating systems and hosts show of them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { softwareCounts } from "../../../src/server/software/software/counts.ts";
import { vulnerabilityCounts } from "../../../src/server/software/software/vulnerabilities/counts.ts";
import { replaceVulnerabilities } from "../../../src/server/software/software/vulnerabilities/service.ts";
import { type Caller, startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makeSession,
  makeSoftware,
  makeTeam,
  makeUser,
  makeVulnerabilities,
} from "../../support/make.ts";

interface ListedVulnerability {
  cve: string;
  hosts_count: number;
}
const PUBLISHED = "2026-01-02T03:04:05.000Z";
const severe = {
  cvss_score: 9.8,
  epss_probability: 0.7,
  cisa_known_exploit: true,
  cve_published: PUBLISHED,
  cve_description: "A bad bug.",
};
const mild = {
  cvss_score: 4.5,
  epss_probability: 0.01,
  cisa_known_exploit: false,
  cve_published: "2025-01-01T00:00:00.000Z",
};

/**
 * Team A: a host with Chrome 1 (CVE-2026-0001 severe, CVE-2026-0002 mild) on macOS (CVE-2026-0003, not described).
 * Team B: a host with Chrome 2 (CVE-2026-0002) on macOS, and one with curl without vulnerabilities.
 */
async function start(tier: "free" | "premium", engine: (typeof bothEngines)[number]) {
  const t = await startApp({ engine, tier, shared: true });
  const [chrome1, chrome2, curl] = [
    await makeSoftware(t, "Chrome", "1.0"),
    await makeSoftware(t, "Chrome", "2.0"),
    await makeSoftware(t, "curl", "8.0"),
  ];
  const macos = await t.store.osVersions.insert({ name: "macOS", version: "15.1", platform: "darwin" });
  const [a, b, c] = [await makeTeam(t, "A"), await makeTeam(t, "B"), await makeTeam(t, "C")];
  const system = { os_version_id: macos.id, platform: "darwin" };
  const hosts = [
    await makeHost(t, { hostname: "one", team_id: a.id, ...system }),
    await makeHost(t, { hostname: "two", team_id: b.id, ...system }),
    await makeHost(t, { hostname: "three", team_id: b.id, platform: "darwin" }),
  ];
  await makeInventory(t, hosts[0]!.id, [chrome1]);
  await makeInventory(t, hosts[1]!.id, [chrome2]);
  await makeInventory(t, hosts[2]!.id, [curl]);
  await makeVulnerabilities(t, { os: macos.id, cves: ["CVE-2026-0003"], fixedIn: "15.2" });
  t.clock.advance(60_000);
  await makeVulnerabilities(t, { software: chrome2.id, cves: ["CVE-2026-0002"], known: mild, fixedIn: "3.0" });
  t.clock.advance(60_000);
  await makeVulnerabilities(t, { software: chrome1.id, cves: ["CVE-2026-0001", "CVE-2026-0002"], fixedIn: "2.0" });
  await makeVulnerabilities(t, {
    software: chrome1.id,
    cves: ["CVE-2026-0001", "CVE-2026-0002"],
    fixedIn: "2.0",
    known: severe,
  });
  await makeVulnerabilities(t, { software: chrome2.id, cves: ["CVE-2026-0002"], known: mild, fixedIn: "3.0" });
  await t.services.running.of(softwareCounts).flush();
  await t.services.running.of(vulnerabilityCounts).flush();
  return { t, teams: { a: a.id, b: b.id, c: c.id }, chrome1, chrome2, curl, macos, hosts };
}

async function get<T>(t: Caller, path: string, status = 200): Promise<T> {
  const reply = await t.get(path);
  expect(reply.status, path).toBe(status);
  return (status === 204 ? null : await reply.json()) as T;
}

const memberOf = async (t: TestApp, ...teams: number[]): Promise<Caller> => {
  const user = await makeUser(t, { teams: teams.map((id) => ({ id, role: "observer" })) });
  return t.as(await makeSession(t, user.id));
};

describe.each(bothEngines)("vulnerabilities on %s", (engine) => {
  let world: Awaited<ReturnType<typeof start>>;
  let t: TestApp;
  beforeAll(async () => {
    world = await start("premium", engine);
    t = world.t;
  });
  afterAll(() => t.close());

  const list = (query = "", as: Caller = t) =>
    get<{ vulnerabilities: ListedVulnerability[]; count: number; meta: object; counts_updated_at: string }>(
      as,
      `/vulnerabilities?${query}`,
    );
  const shown = async (query = "", as: Caller = t) =>
    (await list(query, as)).vulnerabilities.map(({ cve, hosts_count }) => `${cve.slice(-1)} ${hosts_count}`);

  it("are listed with what is known about them, those found last first", async () => {
    const found = await list();
    expect(found.vulnerabilities.map(({ cve }) => cve)).toEqual(["CVE-2026-0001", "CVE-2026-0002", "CVE-2026-0003"]);
    expect(found).toMatchObject({ count: 3, counts_updated_at: expect.any(String) });
    expect(found.vulnerabilities[0]).toEqual({
      cve: "CVE-2026-0001",
      created_at: t.clock.iso(),
      hosts_count: 1,
      hosts_count_updated_at: found.counts_updated_at,
      details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-0001",
      ...severe,
    });
    expect(found.vulnerabilities[2]).toMatchObject({ hosts_count: 2, cvss_score: null, cve_published: null });
  });

  it("are ordered, paged, searched and filtered", async () => {
    expect(await shown("order_key=cve")).toEqual(["1 1", "2 2", "3 2"]);
    expect(await shown("order_key=cvss_score&order_direction=desc")).toEqual(["1 1", "2 2", "3 2"]);
    expect(await shown("order_key=epss_probability")).toEqual(["3 2", "2 2", "1 1"]);
    expect(await shown("order_key=cve_published&order_direction=desc")).toEqual(["1 1", "2 2", "3 2"]);
    expect((await shown("order_key=host_count"))[0]).toBe("1 1");
    expect((await shown("order_key=host_count&order_direction=desc"))[2]).toBe("1 1");
    expect(await shown("order_key=hosts_count&order_direction=desc&after=2")).toEqual(["1 1"]);
    expect(await shown("order_key=cve&after=CVE-2026-0001")).toEqual(["2 2", "3 2"]);
    expect(await shown("query=cve-2026-0002")).toEqual(["2 2"]);
    expect(await shown("query=nothing")).toEqual([]);
    expect(await shown("exploit=true")).toEqual(["1 1"]);
    expect(await shown("exploit=true&order_key=host_count")).toEqual(["1 1"]);
    const second = await list("order_key=cve&per_page=1&page=1");
    expect(second).toMatchObject({
      count: 3,
      vulnerabilities: [{ cve: "CVE-2026-0002" }],
      meta: { has_next_results: true, has_previous_results: true },
    });
    await get(t, "/vulnerabilities?order_key=source", 400);
    await get(t, "/vulnerabilities?order_key=host_count&after=x", 400);
  });

  it("are counted by team, and added up for callers of several teams", async () => {
    const { a, b, c } = world.teams;
    expect(await shown(`team_id=${a}&order_key=cve`)).toEqual(["1 1", "2 1", "3 1"]);
    expect(await shown(`team_id=${b}&order_key=cve`)).toEqual(["2 1", "3 1"]);
    expect(await shown(`team_id=${c}`)).toEqual([]);
    expect(await shown("team_id=0")).toEqual([]);
    await get(t, "/vulnerabilities?team_id=99999", 404);
    const [one, both] = [await memberOf(t, b), await memberOf(t, a, b)];
    expect(await shown("order_key=cve", one)).toEqual(["2 1", "3 1"]);
    expect(await shown("order_key=cve", both)).toEqual(["1 1", "2 2", "3 2"]);
    expect((await shown("order_key=host_count", both))[0]).toBe("1 1");
    expect((await shown("order_key=host_count&after=1", both)).sort()).toEqual(["2 2", "3 2"]);
    expect((await list("", both)).count).toBe(3);
    await get(one, `/vulnerabilities?team_id=${a}`, 403);
    await get(both, "/vulnerabilities?order_key=host_count&after=x", 400);
  });

  it("one shows the software and the operating systems that have it", async () => {
    const { a, b } = world.teams;
    const { vulnerability } = await get<{ vulnerability: object }>(t, "/vulnerabilities/cve-2026-0002");
    expect(vulnerability).toMatchObject({ cve: "CVE-2026-0002", hosts_count: 2, os_versions: [] });
    const version = { name: "Chrome", source: "apps", extension_for: "", generated_cpe: "", hosts_count: 1 };
    const { chrome1, chrome2 } = world;
    expect(vulnerability).toMatchObject({
      software: [
        { ...version, id: chrome1.id, software_title_id: chrome1.title_id, version: "1.0", resolved_in_version: "2.0" },
        { ...version, id: chrome2.id, software_title_id: chrome2.title_id, version: "2.0", resolved_in_version: "3.0" },
      ],
    });
    const ofTeam = await get(t, `/vulnerabilities/CVE-2026-0002?team_id=${b}`);
    expect(ofTeam).toMatchObject({ vulnerability: { hosts_count: 1, software: [{ id: chrome2.id }] } });
    expect(await get(t, `/vulnerabilities/CVE-2026-0003?team_id=${a}`)).toMatchObject({
      vulnerability: {
        os_versions: [
          {
            os_version_id: world.macos.id,
            hosts_count: 1,
            name: "macOS 15.1",
            name_only: "macOS",
            version: "15.1",
            resolved_in_version: "15.2",
          },
        ],
        software: [],
      },
    });
  });

  it("one that no feed has, and whose hosts were not yet counted, is shown with what is known", async () => {
    const cve = "CVE-2026-7777";
    const id = world.curl.id;
    const own = await t.store.softwareCves.pick(["cve", "resolved_in_version"], { where: eq("software_id", id) });
    const store = (found: typeof own) =>
      t.store.tx((tx) => replaceVulnerabilities(tx, "software", id, found, "2026-01-05T00:00:00.000Z"));
    await store([...own, { cve, resolved_in_version: null }]);
    const { vulnerability } = await get<{ vulnerability: Record<string, unknown> }>(t, `/vulnerabilities/${cve}`);
    expect(vulnerability).toMatchObject({ cve, cvss_score: null, cve_description: null, os_versions: [] });
    const [software] = vulnerability.software as { id: number; hosts_count: number }[];
    expect(software).toMatchObject({ id, hosts_count: vulnerability.hosts_count });
    await store(own);
  });

  it("one answers 204 if it affects nothing, 404 if it is not known, and 400 if it is no CVE", async () => {
    const { b, c } = world.teams;
    await get(t, `/vulnerabilities/CVE-2026-0001?team_id=${c}`, 204);
    await get(await memberOf(t, b), "/vulnerabilities/CVE-2026-0001", 204);
    await get(t, "/vulnerabilities/CVE-2026-9999", 404);
    await get(t, "/vulnerabilities/2026-0001", 400);
    await get(t, "/vulnerabilities/CVE-26-1", 400);
    await get(t, "/vulnerabilities/CVE-2026-0001?team_id=99999", 403);
    await get(await memberOf(t, b), `/vulnerabilities/CVE-2026-0002?team_id=${c}`, 403);
  });

  it("select titles and versions by score and exploit, each of which one vulnerability has to have", async () => {
    const titles = async (query: string) =>
      (await get<{ software_titles: { name: string }[] }>(t, `/software/titles?${query}`)).software_titles.map(
        ({ name }) => name,
      );
    expect(await titles("vulnerable=true")).toEqual(["Chrome"]);
    expect(await titles("min_cvss_score=9")).toEqual(["Chrome"]);
    expect(await titles(`min_cvss_score=9&team_id=${world.teams.b}`)).toEqual([]);
    expect(await titles("min_cvss_score=5&max_cvss_score=9")).toEqual([]);
    expect(await titles("max_cvss_score=5&exploit=true")).toEqual([]);
    expect(await titles("exploit=true")).toEqual(["Chrome"]);
    expect(await titles("exploit=false")).toEqual(["Chrome", "curl"]);
    const versions = async (query: string) =>
      (
        await get<{ software: { name: string; version: string }[]; count: number }>(t, `/software/versions?${query}`)
      ).software.map(({ name, version }) => `${name} ${version}`);
    expect(await versions("max_cvss_score=5&order_key=name")).toEqual(["Chrome 1.0", "Chrome 2.0"]);
    expect(await versions("exploit=1")).toEqual(["Chrome 1.0"]);
    for (const key of ["cvss_score", "epss_probability", "cve_published"])
      expect(await versions(`order_key=${key}&order_direction=desc`)).toEqual(["Chrome 1.0", "Chrome 2.0", "curl 8.0"]);
    expect(await versions("order_key=cisa_known_exploit&order_direction=desc&per_page=1")).toEqual(["Chrome 1.0"]);
    expect(await versions("order_key=cvss_score&order_direction=desc&after=5")).toEqual(["Chrome 2.0", "curl 8.0"]);
    expect(await get(t, "/software/count?min_cvss_score=9")).toEqual({ count: 1 });
    const both = await memberOf(t, world.teams.a, world.teams.b);
    const sums = await get<{ count: number; software: { hosts_count: number }[] }>(
      both,
      "/software/versions?order_key=cvss_score",
    );
    expect(sums).toMatchObject({ count: 3, software: [{ hosts_count: 1 }, { hosts_count: 1 }, { hosts_count: 1 }] });
  });

  it("are described in versions, operating systems and hosts", async () => {
    const details = { cve: "CVE-2026-0001", ...severe, resolved_in_version: "2.0" };
    const { software } = await get<{ software: { vulnerabilities: object[] } }>(
      t,
      `/software/versions/${world.chrome1.id}`,
    );
    expect(software.vulnerabilities[0]).toMatchObject({ ...details, created_at: t.clock.iso() });
    const listed = await get<{ software: { vulnerabilities: object[] }[] }>(t, "/software/versions?exploit=true");
    expect(listed.software[0]!.vulnerabilities[0]).toEqual({
      ...details,
      details_link: "https://nvd.nist.gov/vuln/detail/CVE-2026-0001",
    });
    const plain = await get(t, "/software/versions?exploit=true&without_vulnerability_details=true");
    expect(plain).toMatchObject({ software: [{ vulnerabilities: ["CVE-2026-0001", "CVE-2026-0002"] }] });
    const { host } = await get<{ host: { software: { vulnerabilities: object[] }[] } }>(
      t,
      `/hosts/${world.hosts[0]!.id}`,
    );
    expect(host.software[0]!.vulnerabilities[0]).toMatchObject(details);
    const hosts = await get(t, "/hosts?populate_software=without_vulnerability_details&query=one");
    expect(hosts).toMatchObject({ hosts: [{ software: [{ vulnerabilities: ["CVE-2026-0001", "CVE-2026-0002"] }] }] });
    const os = await get(t, `/os_versions/${world.macos.id}`);
    expect(os).toMatchObject({
      os_version: {
        vulnerabilities: [{ cve: "CVE-2026-0003", resolved_in_version: "15.2" }],
        vulnerabilities_count: 1,
      },
    });
  });

  it("select the software of a host", async () => {
    const of = async (query: string) =>
      (await get<{ count: number }>(t, `/hosts/${world.hosts[0]!.id}/software?${query}`)).count;
    expect(await of("vulnerable=true")).toBe(1);
    expect(await of("min_cvss_score=9")).toBe(1);
    expect(await of("min_cvss_score=10")).toBe(0);
    expect(await of("exploit=true")).toBe(1);
    const { id } = world.hosts[1]!;
    expect(await get(t, `/hosts/${id}/software?exploit=true`)).toMatchObject({ count: 0, software: [] });
  });

  it("select hosts, also in counts and reports", async () => {
    const names = async (query: string) =>
      (await get<{ hosts: { hostname: string }[] }>(t, `/hosts?order_key=hostname&${query}`)).hosts.map(
        ({ hostname }) => hostname,
      );
    expect(await names("vulnerability=cve-2026-0001")).toEqual(["one"]);
    expect(await names("vulnerability=CVE-2026-0002")).toEqual(["one", "two"]);
    expect(await names("vulnerability=CVE-2026-0003")).toEqual(["one", "two"]);
    expect(await names(`vulnerability=CVE-2026-0003&team_id=${world.teams.b}`)).toEqual(["two"]);
    expect(await names("vulnerability=CVE-2026-9999")).toEqual([]);
    expect(await get(t, "/hosts/count?vulnerability=CVE-2026-0002")).toEqual({ count: 2 });
    const report = await t.get("/hosts/report?format=csv&vulnerability=CVE-2026-0001&columns=hostname");
    expect(await report.text()).toBe("hostname\r\none\r\n");
    await get(t, "/hosts?vulnerability=2026-0001", 400);
  });

  it("of a Linux release are those of its kernels", async () => {
    const own = await startApp({ engine });
    const ubuntu = await own.store.osVersions.insert({ name: "Ubuntu", version: "24.04", platform: "ubuntu" });
    const kernel = await makeSoftware(own, "linux-image-6.8.0-45-generic", "6.8.0-45.45", "deb_packages");
    const host = await makeHost(own, { os_version_id: ubuntu.id, platform: "ubuntu" });
    await makeInventory(own, host.id, [kernel]);
    await makeVulnerabilities(own, { software: kernel.id, cves: ["CVE-2026-0001", "CVE-2026-0002"] });
    const vulnerabilities = [{ cve: "CVE-2026-0001" }];
    expect(await get(own, "/os_versions?max_vulnerabilities=1")).toMatchObject({
      os_versions: [{ vulnerabilities, vulnerabilities_count: 2 }],
    });
    const { os_version } = await get<{ os_version: { vulnerabilities: object[] } }>(
      own,
      `/os_versions/${ubuntu.id}?max_vulnerabilities=1`,
    );
    expect(os_version.vulnerabilities).toHaveLength(1);
    expect(os_version).toMatchObject({
      kernels: [{ id: kernel.id, hosts_count: 1, vulnerabilities: ["CVE-2026-0001", "CVE-2026-0002"] }],
    });
    await own.close();
  });
});

it("details are premium", async () => {
  const { t, chrome1 } = await start("free", "lowdb");
  const { vulnerabilities } = await get<{ vulnerabilities: object[] }>(t, "/vulnerabilities");
  const fields = ["cve", "created_at", "hosts_count", "hosts_count_updated_at", "details_link"];
  expect(Object.keys(vulnerabilities[0]!).sort()).toEqual([...fields].sort());
  const { vulnerability } = await get<{ vulnerability: { software: object[] } }>(t, "/vulnerabilities/CVE-2026-0002");
  expect(Object.keys(vulnerability).sort()).toEqual([...fields, "os_versions", "software"].sort());
  expect(vulnerability.software[0]).not.toHaveProperty("resolved_in_version");
  const { software } = await get<{ software: { vulnerabilities: object[] } }>(t, `/software/versions/${chrome1.id}`);
  expect(Object.keys(software.vulnerabilities[0]!)).toEqual(["cve", "details_link", "created_at"]);
  for (const query of [
    "exploit=true",
    "team_id=1",
    "order_key=cvss_score",
    "order_key=epss_probability",
    "order_key=cve_published",
  ])
    await get(t, `/vulnerabilities?${query}`, 402);
  for (const query of [
    "min_cvss_score=1",
    "exploit=true",
    "without_vulnerability_details=true",
    "order_key=cvss_score",
  ])
    await get(t, `/software/versions?${query}`, 402);
});
