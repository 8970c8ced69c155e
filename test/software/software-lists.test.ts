// Lists of software titles, versions and operating systems: filters, orders, paging, and what callers of teams see.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeSession, makeSoftware, makeTeam, makeUser } from "../support/make.ts";

interface Title {
  id: number;
  name: string;
  hosts_count: number;
  versions_count: number;
  versions: { id: number; version: string; vulnerabilities: string[] | null; hosts_count?: number }[];
}
interface Version {
  id: number;
  title_id: number;
  name: string;
  version: string;
  hosts_count: number;
  vulnerabilities: unknown[] | null;
}

describe.each(rulesEngines)("software on %s", (engine) => {
  let t: TestApp;
  const team: Record<"A" | "B" | "C", number> = { A: 0, B: 0, C: 0 };
  const version: Record<"figma1" | "figma2" | "zoom" | "bash" | "unused", { id: number; title_id: number }> =
    {} as never;
  let kernel: { id: number };
  let ubuntu: { id: number };

  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    for (const name of ["A", "B", "C"] as const) team[name] = (await makeTeam(t, name)).id;
    version.figma1 = await makeSoftware(t, "Figma", "1.2");
    version.figma2 = await makeSoftware(t, "Figma", "1.3");
    version.zoom = await makeSoftware(t, "zoom.us", "6.0");
    version.bash = await makeSoftware(t, "bash", "5.2", "deb_packages");
    version.unused = await makeSoftware(t, "Netscape", "4");
    kernel = await makeSoftware(t, "linux-image-6.8.0-45-generic", "6.8.0-45.45", "deb_packages");
    const meta = await makeSoftware(t, "linux-image-generic", "6.8.0", "deb_packages");
    ubuntu = await t.store.osVersions.insert({ name: "Ubuntu", version: "24.04.1 LTS", platform: "ubuntu" });
    const macos = await t.store.osVersions.insert({ name: "macOS", version: "15.1", platform: "darwin" });
    const { figma1, figma2, zoom, bash } = version;
    const add = async (team_id: number | null, os: number, software: { id: number; title_id: number }[]) =>
      makeInventory(t, (await makeHost(t, { team_id, os_version_id: os })).id, software);
    await add(team.A, macos.id, [figma1, zoom]);
    await add(team.A, macos.id, [figma2]);
    await add(team.B, macos.id, [figma2, zoom]);
    await add(team.B, ubuntu.id, [bash, kernel as never, meta]);
    await add(null, macos.id, [figma1]);
    await t.store.softwareCves.insert({ software_id: figma1.id, cve: "CVE-2026-0001" });
    await t.store.osCves.insert({ os_version_id: ubuntu.id, cve: "CVE-2026-0009" });
    await t.services.running.of(softwareCounts).flush();
  });

  afterAll(() => t.close());

  const get = async <T>(path: string, as: Caller = t, status = 200): Promise<T> => {
    const reply = await as.get(path);
    expect(reply.status, path).toBe(status);
    return (await reply.json()) as T;
  };
  const titles = (query = "", as: Caller = t) =>
    get<{ software_titles: Title[]; count: number; counts_updated_at: string; meta: object }>(
      `/software/titles?${query}`,
      as,
    );
  const versions = (query = "", as: Caller = t) =>
    get<{ software: Version[]; count: number; meta: object }>(`/software/versions?${query}`, as);
  const named = (found: { software_titles: Title[] }) =>
    found.software_titles.map(({ name, hosts_count, versions_count }) => `${name} ${hosts_count} ${versions_count}`);
  const member = async (...teams: number[]): Promise<Caller> => {
    const user = await makeUser(t, { teams: teams.map((id) => ({ id, role: "observer" })) });
    return t.as(await makeSession(t, user.id));
  };

  it("titles are those on most hosts first, each with its versions", async () => {
    const found = await titles();
    expect(named(found).slice(0, 2)).toEqual(["Figma 4 2", "zoom.us 2 1"]);
    expect(found.count).toBe(5);
    expect(found.counts_updated_at).toEqual(expect.any(String));
    expect(found.software_titles[0]).toEqual({
      id: version.figma1.title_id,
      name: "Figma",
      display_name: "",
      source: "apps",
      extension_for: "",
      browser: "",
      hosts_count: 4,
      versions_count: 2,
      versions: [
        { id: version.figma1.id, version: "1.2", vulnerabilities: ["CVE-2026-0001"] },
        { id: version.figma2.id, version: "1.3", vulnerabilities: null },
      ],
      icon_url: null,
      software_package: null,
      packages: null,
      app_store_app: null,
    });
  });

  it("titles are counted by team, and for hosts without one", async () => {
    expect(named(await titles(`team_id=${team.A}`))).toEqual(["Figma 2 2", "zoom.us 1 1"]);
    expect(named(await titles("team_id=0"))).toEqual(["Figma 1 1"]);
    expect(await titles(`team_id=${team.C}`)).toMatchObject({ count: 0, software_titles: [] });
    const reply = await get<{ message: string }>("/software/titles?team_id=99999", t, 404);
    expect(reply.message).toBeTypeOf("string");
  });

  it("titles can be searched, ordered, paged and filtered", async () => {
    expect(named(await titles("query=FIG"))).toEqual(["Figma 4 2"]);
    expect(named(await titles("query=cve-2026-0001"))).toEqual(["Figma 4 2"]);
    expect(named(await titles("vulnerable=true"))).toEqual(["Figma 4 2"]);
    expect(named(await titles(`vulnerable=true&team_id=${team.B}`))).toEqual([]);
    expect(named(await titles("order_key=name&per_page=2"))).toEqual(["Figma 4 2", "bash 1 1"]);
    const second = await titles("order_key=name&per_page=2&page=1");
    expect(second.meta).toEqual({ has_next_results: true, has_previous_results: true });
    expect(named(await titles("order_key=name&order_direction=desc&per_page=1"))).toEqual(["zoom.us 2 1"]);
    expect(named(await titles("order_key=name&after=linux-image-generic"))).toEqual(["zoom.us 2 1"]);
    expect(named(await titles(`team_id=${team.B}&platform=linux`))).toContain("bash 1 1");
    expect(named(await titles(`team_id=${team.B}&platform=macos,windows`))).toEqual(["Figma 1 1", "zoom.us 1 1"]);
    expect(named(await titles("available_for_install=true"))).toEqual([]);
    await get("/software/titles?platform=linux", t, 400);
    await get(`/software/titles?team_id=${team.A}&platform=amiga`, t, 400);
    await get("/software/titles?order_key=version", t, 400);
    await get("/software/titles?after=x", t, 400);
  });

  it("versions have their title, hosts and vulnerabilities", async () => {
    const found = await versions();
    expect(found.count).toBe(6);
    expect(found.software.slice(0, 1)).toMatchObject([{ id: version.figma1.id, name: "Figma", hosts_count: 2 }]);
    expect(found.software[0]!.vulnerabilities).toMatchObject([{ cve: "CVE-2026-0001" }]);
    const plain = await versions("without_vulnerability_details=true");
    expect(plain.software[0]!.vulnerabilities).toEqual(["CVE-2026-0001"]);
    expect((await versions("query=6.0")).software.map(({ name }) => name)).toEqual(["zoom.us"]);
    expect((await versions("query=CVE-2026-0001")).software.map(({ id }) => id)).toEqual([version.figma1.id]);
    expect(await get("/software/count?query=figma")).toEqual({ count: 2 });
    expect((await get<{ software: Version[] }>("/software?per_page=1")).software).toHaveLength(1);
    const { software } = await get<{ software: Version }>(`/software/versions/${version.figma2.id}?team_id=${team.B}`);
    expect(software).toMatchObject({ version: "1.3", hosts_count: 1, title_id: version.figma2.title_id });
    await get(`/software/versions/${version.figma2.id}?team_id=0`, t, 404);
    await get(`/software/versions/${version.unused.id}`, t, 404);
  });

  it("one title shows its versions, those on most hosts first", async () => {
    const { software_title: title } = await get<{ software_title: Title }>(
      `/software/titles/${version.figma1.title_id}?team_id=${team.A}`,
    );
    expect(title).toMatchObject({ hosts_count: 2, versions_count: 2 });
    expect(title.versions.map((one) => [one.version, one.hosts_count])).toEqual([
      ["1.2", 1],
      ["1.3", 1],
    ]);
    await get(`/software/titles/${version.unused.title_id}`, t, 404);
  });

  it("callers of teams see their teams' hosts only, added up", async () => {
    const [one, both] = [await member(team.B), await member(team.A, team.B)];
    expect(named(await titles("", one)).slice(0, 2)).toEqual(["Figma 1 1", "bash 1 1"]);
    const found = await titles("", both);
    expect(named(found).slice(0, 2)).toEqual(["Figma 3 2", "zoom.us 2 1"]);
    expect(found.count).toBe(5);
    expect(named(await titles("order_key=name&per_page=1&page=1", both))).toEqual(["bash 1 1"]);
    expect(named(await titles("order_key=name&after=linux-image-generic", both))).toEqual(["zoom.us 2 1"]);
    expect(named(await titles("order_key=hosts_count&order_direction=desc&after=2", both))).not.toContain("Figma 3 2");
    expect((await versions("query=figma", both)).software.map(({ hosts_count }) => hosts_count)).toEqual([2, 1]);
    expect(await get("/software/count", both)).toEqual({ count: 6 });
    expect((await both.get("/software/titles?team_id=0")).status).toBe(403);
    expect((await one.get(`/software/titles?team_id=${team.A}`)).status).toBe(403);
    const { software_title } = await get<{ software_title: Title }>(`/software/titles/${version.zoom.title_id}`, both);
    expect(software_title.hosts_count).toBe(2);
    expect((await one.get(`/software/versions/${version.figma1.id}`)).status).toBe(404);
    await get("/software/titles?after=x", both, 400);
  });

  it("operating systems are counted over the hosts that the caller sees, with the kernels of Linux", async () => {
    const list = async (query = "", as: Caller = t) =>
      (
        await get<{ os_versions: { name: string; hosts_count: number }[] }>(`/os_versions?${query}`, as)
      ).os_versions.map(({ name, hosts_count }) => `${name} ${hosts_count}`);
    expect(await list()).toEqual(["macOS 15.1 4", "Ubuntu 24.04.1 LTS 1"]);
    expect(await list(`team_id=${team.B}`)).toEqual(["Ubuntu 24.04.1 LTS 1", "macOS 15.1 1"]);
    expect(await list("platform=linux")).toEqual(["Ubuntu 24.04.1 LTS 1"]);
    expect(await list("os_name=macOS&os_version=15.1")).toEqual(["macOS 15.1 4"]);
    expect(await list("order_key=hosts_count&order_direction=asc&per_page=1")).toEqual(["Ubuntu 24.04.1 LTS 1"]);
    expect(await list("", await member(team.A))).toEqual(["macOS 15.1 2"]);
    await get("/os_versions?os_name=macOS", t, 400);
    const { os_version: system } = await get<{ os_version: object }>(`/os_versions/${ubuntu.id}`);
    expect(system).toMatchObject({
      os_version_id: ubuntu.id,
      name: "Ubuntu 24.04.1 LTS",
      name_only: "Ubuntu",
      version: "24.04.1 LTS",
      platform: "ubuntu",
      hosts_count: 1,
      vulnerabilities: [{ cve: "CVE-2026-0009" }],
      vulnerabilities_count: 1,
      kernels: [{ id: kernel.id, version: "6.8.0-45.45", vulnerabilities: [], hosts_count: 1 }],
    });
    const fewer = await get<{ os_version: object }>(`/os_versions/${ubuntu.id}?max_vulnerabilities=0`);
    expect(fewer.os_version).toMatchObject({ vulnerabilities: [], vulnerabilities_count: 1 });
    await get(`/os_versions/${ubuntu.id}?team_id=${team.A}`, t, 404);
  });
});
