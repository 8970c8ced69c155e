import { describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import { hostOrderKeys } from "../../src/api/inventory/host-filters.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { hostRow, makeHost, makeInventory, makeLabel, makeSoftware, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const minutesAgo = (minutes: number) => new Date(Date.parse(NOW) - minutes * 60_000).toISOString();
const daysAgo = (days: number) => minutesAgo(days * 24 * 60);

async function hostsOf(caller: Pick<TestApp, "get">, path: string): Promise<Host[]> {
  const res = await caller.get(path);
  expect(res.status, `${path}: ${await res.clone().text()}`).toBe(200);
  return ((await res.json()) as { hosts: Host[] }).hosts;
}
const names = async (caller: Pick<TestApp, "get">, query: string) =>
  (await hostsOf(caller, `/hosts?${query}`)).map(({ hostname }) => hostname);
const countOf = async (caller: Pick<TestApp, "get">, query: string) =>
  ((await (await caller.get(`/hosts/count?${query}`)).json()) as { count: number }).count;

describe.each(bothEngines)("hosts on %s", (engine) => {
  it("shows times that mean never for a host that has reported nothing", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "fresh.example.com", display_name: "fresh" });
    const [shown] = await hostsOf(t, "/hosts");
    expect(shown).toMatchObject({
      id: host.id,
      display_text: "fresh.example.com",
      display_name: "fresh",
      detail_updated_at: "2000-01-01T00:00:00Z",
      label_updated_at: "2000-01-01T00:00:00Z",
      last_restarted_at: "2000-01-01T00:00:00Z",
      last_mdm_enrolled_at: null,
      seen_time: NOW,
      status: "online",
      team_id: null,
      team_name: null,
      agent_version: null,
      issues: { failing_policies_count: 0, total_issues_count: 0, critical_vulnerabilities_count: 0 },
      mdm: { enrollment_status: null, device_status: "unlocked", pending_action: "" },
    });
    expect(shown).not.toHaveProperty("disk_encryption_enabled");
    expect(shown).not.toHaveProperty("software");
    for (const secret of ["node_key_hash", "identifier", "revision"]) expect(shown).not.toHaveProperty(secret);
  });

  it("determines the status by the last contact, and by the creation of a host that was never seen", async () => {
    const t = await startApp({ engine });
    await makeHost(t, { hostname: "up", created_at: daysAgo(50) }, { seen: minutesAgo(1), onlineFor: 61 });
    await makeHost(t, { hostname: "edge", created_at: daysAgo(50) }, { seen: minutesAgo(1), onlineFor: 60 });
    await makeHost(t, { hostname: "gone", created_at: daysAgo(50) }, { seen: daysAgo(30) });
    await makeHost(t, { hostname: "away", created_at: daysAgo(50) }, { seen: daysAgo(29) });
    await makeHost(t, { hostname: "just made" });
    await makeHost(t, { hostname: "never came", created_at: daysAgo(31) });
    await makeHost(t, { hostname: "a day old", created_at: daysAgo(1) });
    const by = async (status: string) => (await names(t, `status=${status}`)).sort();
    expect(await by("online")).toEqual(["just made", "up"]);
    expect(await by("offline")).toEqual(["a day old", "away", "edge", "gone", "never came"]);
    expect(await by("missing")).toEqual(["gone", "never came"]);
    expect(await by("mia")).toEqual(["gone", "never came"]);
    expect(await by("new")).toEqual(["a day old", "just made"]);
    for (const host of await hostsOf(t, "/hosts"))
      expect(host.status, host.hostname).toBe(["up", "just made"].includes(host.hostname) ? "online" : "offline");
    t.clock.advance(61_000);
    expect(await by("online")).toEqual([]);
    expect(await json(t.get("/host_summary"))).toMatchObject({
      totals_hosts_count: 7,
      online_count: 0,
      offline_count: 7,
      mia_count: 2,
      missing_30_days_count: 2,
      new_count: 1,
    });
  });

  it("searches names and addresses, and email addresses if the text looks like one", async () => {
    const t = await startApp({ engine });
    const a = await makeHost(t, { hostname: "Alpha", uuid: "UU-1", hardware_serial: "SER-A", primary_ip: "10.0.0.7" });
    await makeHost(t, { hostname: "beta", uuid: "UU-2", hardware_serial: "SER-B", primary_ip: "10.0.0.8" });
    await makeHost(t, { hostname: "100%_x", uuid: "UU-3", hardware_serial: "SER-C", display_name: "alpha's twin" });
    await t.store.hostEmails.insert({ host_id: a.id, email: "Ada@Example.com", source: "custom" });
    expect(await names(t, "query=ALPH")).toEqual(["Alpha"]);
    expect(await names(t, "query=%20uu-2%20")).toEqual(["beta"]);
    expect(await names(t, "query=ser-")).toHaveLength(3);
    expect(await names(t, "query=10.0.0.8")).toEqual(["beta"]);
    expect(await names(t, "query=ada@example")).toEqual(["Alpha"]);
    expect(await names(t, `query=${encodeURIComponent("ada@ example")}`)).toEqual([]);
    expect(await names(t, "query=ada")).toEqual([]);
    expect(await names(t, `query=${encodeURIComponent("%_")}`)).toEqual(["100%_x"]);
    expect(await names(t, "query=")).toHaveLength(3);
  });

  it("filters by label, operating system, software, team and disk space, and counts the same", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const os = await t.store.osVersions.insert({ name: "Ubuntu", version: "24.04", platform: "ubuntu" });
    const app = await makeSoftware(t, "Figma", "1.2");
    const newer = await t.store.software.insert({ ...app, id: undefined, version: "1.3", key: "figma 1.3" } as never);
    const a = await makeHost(t, { hostname: "a", team_id: team.id, os_version_id: os.id });
    const b = await makeHost(t, { hostname: "b", gigs_disk_space_available: 4, gigs_total_disk_space: 100 });
    await makeHost(t, { hostname: "c", gigs_disk_space_available: 40, gigs_total_disk_space: 100 });
    await makeInventory(t, a.id, [app]);
    await makeInventory(t, b.id, [newer]);
    const label = await makeLabel(t, "some", [b.id]);
    const cases: [string, string[]][] = [
      [`label_id=${label.id}`, ["b"]],
      ["label_id=99999", []],
      [`team_id=${team.id}`, ["a"]],
      ["team_id=0", ["b", "c"]],
      ["os_name=Ubuntu&os_version=24.04", ["a"]],
      ["os_name=Ubuntu&os_version=22.04", []],
      [`os_version_id=${os.id}`, ["a"]],
      [`software_version_id=${app.id}`, ["a"]],
      [`software_id=${newer.id}`, ["b"]],
      [`software_title_id=${app.title_id}`, ["a", "b"]],
      ["software_title_id=999999", []],
      ["low_disk_space=5", ["b"]],
      ["low_disk_space=4", []],
      [`software_title_id=${app.title_id}&team_id=0&status=online`, ["b"]],
    ];
    for (const [query, expected] of cases) {
      expect(await names(t, query), query).toEqual(expected);
      expect(await countOf(t, query), query).toBe(expected.length);
    }
    expect(await json(t.get(`/hosts?software_version_id=${app.id}`))).toMatchObject({
      software: { id: app.id, name: "Figma", version: "1.2", source: "apps" },
    });
    expect(await json(t.get(`/hosts?software_title_id=${app.title_id}`))).toMatchObject({
      software_title: { id: app.title_id, name: "Figma", source: "apps" },
    });
  });

  it("refuses invalid filter values, and incomplete pairs", async () => {
    const t = await startApp({ engine });
    const cases: [string, string, string][] = [
      ["status=up", "status", "Invalid status: up"],
      ["low_disk_space=0", "low_disk_space", "Invalid low_disk_space: 0"],
      ["low_disk_space=101", "low_disk_space", "Invalid low_disk_space: 101"],
      ["low_disk_space=x", "low_disk_space", "Invalid low_disk_space: x"],
      ["team_id=x", "team_id", "Invalid team_id: x"],
      ["populate_labels=perhaps", "populate_labels", "Invalid populate_labels: perhaps"],
      ["software_version_id=-1", "software_version_id", "Invalid software_version_id: -1"],
      ["os_name=Ubuntu", "os_version", "Missing os_version (it must be present when os_name is specified)"],
      ["os_version=24.04", "os_name", "Missing os_name (it must be present when os_version is specified)"],
      [
        "order_key=issues&disable_issues=true",
        "order_key",
        "Invalid order_key: issues (it cannot be used with disable_issues)",
      ],
      [
        "order_key=issues&disable_failing_policies=1",
        "order_key",
        "Invalid order_key: issues (it cannot be used with disable_issues)",
      ],
      ["order_key=id;drop", "order_key", "Invalid order_key: id;drop"],
      ["after=3", "order_key", "order_key must be specified with after"],
      ["order_key=seen_time&after=yesterday", "after", "Invalid after: yesterday"],
    ];
    for (const [query, name, reason] of cases)
      for (const path of ["/hosts", "/hosts/count"]) {
        const res = await t.get(`${path}?${query}`);
        if (path.endsWith("count") && query.includes("after")) continue;
        expect(res.status, query).toBe(400);
        expect(await res.json()).toMatchObject({ message: "Bad request", errors: [{ name, reason }] });
      }
  });

  it("pages and orders by columns of the host and of its related rows", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Zeta");
    const other = await makeTeam(t, "Eta");
    await makeHost(t, { hostname: "a", memory: 3, team_id: team.id }, { seen: minutesAgo(5) });
    await makeHost(t, { hostname: "b", memory: 1, team_id: other.id }, { seen: minutesAgo(9) });
    await makeHost(t, { hostname: "c", memory: 2 }, { seen: minutesAgo(1) });
    expect(await names(t, "order_key=memory")).toEqual(["b", "c", "a"]);
    expect(await names(t, "order_key=memory&order_direction=desc")).toEqual(["a", "c", "b"]);
    expect(await names(t, "order_key=seen_time&order_direction=desc")).toEqual(["c", "a", "b"]);
    expect(await names(t, "order_key=team_name")).toEqual(["b", "a", "c"]);
    expect(await names(t, "order_key=issues&order_direction=desc")).toEqual(["c", "b", "a"]);
    expect(await names(t, "order_key=issues&disable_failing_policies=1&disable_issues=0")).toEqual(["a", "b", "c"]);
    for (const key of hostOrderKeys) expect((await names(t, `order_key=${key}`)).sort(), key).toEqual(["a", "b", "c"]);
    expect(await names(t, "order_key=hostname&after=a")).toEqual(["b", "c"]);
    expect(await names(t, `order_key=seen_time&after=${minutesAgo(6)}`)).toEqual(["a", "c"]);
    expect(await names(t, `order_key=hosts.created_at&after=${daysAgo(1)}&order_direction=asc`)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(await names(t, `order_key=h.created_at&after=${daysAgo(1)}&order_direction=asc`)).toEqual(["a", "b", "c"]);
    const page = await json(t.get("/hosts?per_page=2&page=0"));
    expect(page).toMatchObject({ meta: { has_next_results: true, has_previous_results: false } });
    const last = await json(t.get("/hosts?per_page=2&page=1"));
    expect((last.hosts as Host[]).map(({ hostname }) => hostname)).toEqual(["c"]);
    expect(last).toMatchObject({ meta: { has_next_results: false, has_previous_results: true } });
  });

  it("includes software, users, labels, additional results and addresses in a list on request", async () => {
    const t = await startApp({ engine });
    const a = await makeHost(t, { hostname: "a" });
    const b = await makeHost(t, { hostname: "b" });
    const app = await makeSoftware(t, "Figma", "1.2");
    await makeInventory(t, a.id, [{ ...app, opened: NOW, paths: ["/Applications/Figma.app"] }]);
    await makeLabel(t, "some", [a.id]);
    await t.store.hostDetails.insert({
      id: a.id,
      users: [{ uid: 501, username: "ada", type: "local", groupname: "staff", shell: "/bin/zsh" }],
      batteries: [{ cycle_count: 3, health: "Normal" }],
      additional: { time: [{ hour: "3" }], secret: [{ x: "1" }] },
    });
    await t.store.hostEmails.insert({ host_id: a.id, email: "ada@example.com", source: "custom" });
    const query =
      "populate_software=true&populate_users=1&populate_labels=true&additional_info_filters=time,nope&device_mapping=true";
    const [first, second] = await hostsOf(t, `/hosts?${query}`);
    expect(first).toMatchObject({
      software: [
        {
          id: app.id,
          name: "Figma",
          version: "1.2",
          last_opened_at: NOW,
          installed_paths: ["/Applications/Figma.app"],
          signature_information: [],
          vulnerabilities: null,
        },
      ],
      users: [{ uid: 501, username: "ada" }],
      labels: [{ name: "some" }],
      additional: { time: [{ hour: "3" }] },
      device_mapping: [{ email: "ada@example.com", source: "custom" }],
    });
    expect(first!.additional).not.toHaveProperty("secret");
    expect(second).toMatchObject({ id: b.id, software: [], users: [], labels: [], device_mapping: [] });
    expect(second).not.toHaveProperty("additional");
  });

  it("shows one host completely, by id and by any of its names", async () => {
    const t = await startApp({ engine });
    const a = await makeHost(t, { hostname: "same", uuid: "U1", hardware_serial: "S1" });
    const b = await makeHost(t, { hostname: "same", uuid: "U2", hardware_serial: "S2", identifier: "I2" });
    const app = await makeSoftware(t, "Figma", "1.2");
    await makeInventory(t, b.id, [app]);
    await t.store.hostDetails.insert({
      id: b.id,
      users: [],
      batteries: [{ cycle_count: 3, health: "Normal" }],
      additional: { time: [] },
    });
    const jamf = await t.store.mdmSolutions.insert({ name: "Jamf", server_url: "https://mdm.example.com" });
    await t.store.hostMdm.insert({ id: b.id, enrollment_status: "On (manual)", solution_id: jamf.id });
    await t.store.hostEmails.insert({ host_id: b.id, email: "ada@example.com", source: "mdm_idp_accounts" });
    await t.store.hostEmails.insert({ host_id: b.id, email: "two@example.com", source: "browser_profiles" });
    const { host } = (await json(t.get(`/hosts/${b.id}`))) as { host: Host };
    expect(host).toMatchObject({
      id: b.id,
      software: [{ name: "Figma" }],
      batteries: [{ cycle_count: 3, health: "Normal" }],
      additional: { time: [] },
      packs: [],
      policies: [],
      pack_stats: [],
      mdm: { enrollment_status: "On (manual)", name: "Jamf", server_url: "https://mdm.example.com" },
      end_users: [
        {
          idp_username: "ada@example.com",
          other_emails: [{ email: "two@example.com", source: "browser_profiles" }],
        },
      ],
    });
    expect((await json(t.get(`/hosts/${b.id}?exclude_software=true`))).host).not.toHaveProperty("software");
    for (const [name, id] of Object.entries({ same: a.id, U2: b.id, S2: b.id, I2: b.id }))
      expect(await json(t.get(`/hosts/identifier/${name}`))).toMatchObject({ host: { id } });
    const missing = await t.get("/hosts/identifier/nobody");
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({
      message: "Resource Not Found",
      errors: [{ name: "base", reason: "host nobody was not found in the datastore" }],
    });
    expect((await t.get("/hosts/99999")).status).toBe(404);
  });

  it("groups a host's software by title", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t);
    const one = await makeSoftware(t, "Figma", "1.2");
    const two = await makeSoftware(t, "Figma", "1.3");
    const zsh = await makeSoftware(t, "zsh", "5", "deb_packages");
    await makeInventory(t, host.id, [{ ...one, opened: NOW }, two, zsh]);
    expect(await json(t.get(`/hosts/${host.id}/software`))).toMatchObject({
      count: 2,
      software: [
        {
          name: "Figma",
          source: "apps",
          installed_versions: [
            { version: "1.2", last_opened_at: NOW, signature_information: [] },
            { version: "1.3", signature_information: [] },
          ],
        },
        { name: "zsh", installed_versions: [expect.not.objectContaining({ signature_information: [] })] },
      ],
      meta: { has_next_results: false, has_previous_results: false },
    });
    const listed = async (query: string) =>
      ((await json(t.get(`/hosts/${host.id}/software?${query}`))).software as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await listed("query=ZS")).toEqual(["zsh"]);
    expect(await listed("order_key=name&order_direction=desc")).toEqual(["zsh", "Figma"]);
    expect(await listed("page=1&per_page=1")).toEqual(["zsh"]);
    expect(await listed("vulnerable=true")).toEqual([]);
    expect(await listed("available_for_install=1")).toEqual([]);
    const bare = await makeHost(t);
    expect(await json(t.get(`/hosts/${bare.id}/software`))).toMatchObject({ count: 0, software: [] });
  });

  it("deletes a host with all of its data, and records who did it", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { display_name: "gone soon", hardware_serial: "S9" }, { seen: NOW });
    await makeLabel(t, "some", [host.id]);
    await makeInventory(t, host.id, [await makeSoftware(t, "Figma", "1.2")]);
    const res = await t.delete(`/hosts/${host.id}`);
    expect([res.status, await res.json()]).toEqual([200, {}]);
    expect((await t.get(`/hosts/${host.id}`)).status).toBe(404);
    expect((await t.delete(`/hosts/${host.id}`)).status).toBe(404);
    expect(await t.store.hostSeen.count()).toBe(0);
    expect(await t.store.labelMembers.count()).toBe(0);
    expect(await t.store.hostSoftware.count()).toBe(0);
    const { activities } = await json(t.get("/activities?activity_type=deleted_host"));
    expect(activities).toMatchObject([
      {
        actor_email: "ada@example.com",
        svc_initiated: false,
        details: { host_id: host.id, host_display_name: "gone soon", host_serial: "S9", triggered_by: "manual" },
      },
    ]);
  });

  it("records a host once if several requests delete it at the same time", async () => {
    const t = await startApp({ engine });
    const ids = (await t.store.hosts.insertMany(Array.from({ length: 40 }, () => hostRow(NOW)))).map(({ id }) => id);
    const many = Array.from({ length: 3 }, () => t.post("/hosts/delete", { ids: ids.slice(1) }));
    const single = Array.from({ length: 3 }, () => t.delete(`/hosts/${ids[0]}`));
    for (const res of await Promise.all([...many, ...single])) expect([200, 404]).toContain(res.status);
    const recorded = await t.store.activities.list({ where: eq("type", "deleted_host") });
    expect(recorded.map(({ details }) => details?.host_id).toSorted()).toEqual(ids.toSorted());
  });

  it("deletes many by ids or by filters, all or nothing", async () => {
    const t = await startApp({ engine });
    const rows = await t.store.hosts.insertMany(
      Array.from({ length: 250 }, (_, i) =>
        hostRow(NOW, { platform: i < 240 ? "ubuntu" : "darwin", hostname: `n${i}` }),
      ),
    );
    const post = (body: unknown) => t.post("/hosts/delete", body);
    const left = () => t.store.hosts.count();
    for (const [body, status, name] of [
      [{}, 400, "base"],
      [{ ids: [rows[0]!.id], filters: {} }, 400, "base"],
      [{ filters: { qery: "n1" } }, 400, "filters.qery"],
      [{ filters: { query: "n1", policy_id: 3 } }, 400, "filters.policy_id"],
      [{ filters: { label_id: 1, status: "online" } }, 422, "filters.label_id"],
      [{ filters: { status: "up" } }, 422, "filters.status"],
      [{ ids: ["1"] }, 422, "ids.0"],
      [{ ids: [rows[0]!.id, 999_999] }, 404, "base"],
    ] as const) {
      const res = await post(body);
      expect([res.status, (await json(res)).errors], JSON.stringify(body)).toMatchObject([status, [{ name }]]);
      expect(await left()).toBe(250);
    }
    expect((await post({ ids: [] })).status).toBe(200);
    expect((await post({ filters: { label_id: 999 } })).status).toBe(200);
    expect(await left()).toBe(250);
    expect((await post({ ids: [rows[0]!.id, rows[0]!.id, rows[1]!.id] })).status).toBe(200);
    expect(await left()).toBe(248);
    expect((await post({ filters: { query: " n24 ", label_id: null } })).status).toBe(200);
    expect(await left()).toBe(237);
    expect((await post({ filters: {} })).status).toBe(200);
    expect(await left()).toBe(0);
    const deleted = await t.store.activities.count({ op: "eq", column: "type", value: "deleted_host" });
    expect(deleted).toBe(250);
  });

  it("requests details from a host again", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { refetch_requested: false });
    expect((await t.post(`/hosts/${host.id}/refetch`)).status).toBe(200);
    expect(await json(t.get(`/hosts/${host.id}`))).toMatchObject({ host: { refetch_requested: true } });
    expect((await t.post("/hosts/99999/refetch")).status).toBe(404);
  });

  it("shows team users only the hosts of their teams, everywhere", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const app = await makeSoftware(t, "Secret tool", "1");
    const mine = await makeHost(t, { hostname: "mine", team_id: own.id, platform: "darwin" });
    const theirs = await makeHost(t, { hostname: "theirs", team_id: other.id });
    const nobodys = await makeHost(t, { hostname: "nobodys" });
    await makeInventory(t, theirs.id, [app]);
    const user = await makeUser(t, { teams: [{ id: own.id, role: "maintainer" }] });
    expect(await names(user, "")).toEqual(["mine"]);
    expect(await countOf(user, "")).toBe(1);
    expect(await json(user.get("/host_summary"))).toMatchObject({
      totals_hosts_count: 1,
      new_count: 1,
      all_linux_count: 0,
      platforms: [{ platform: "darwin", hosts_count: 1 }],
    });
    for (const path of ["/hosts", "/hosts/count", "/host_summary"])
      for (const id of [0, other.id, 9999]) expect((await user.get(`${path}?team_id=${id}`)).status).toBe(403);
    const bySoftware = await json(user.get(`/hosts?software_version_id=${app.id}`));
    expect(bySoftware).toEqual({ hosts: [], meta: { has_next_results: false, has_previous_results: false } });
    for (const { id } of [theirs, nobodys]) {
      const answers = [
        await user.get(`/hosts/${id}`),
        await user.get(`/hosts/${id}/software`),
        await user.post(`/hosts/${id}/refetch`),
        await user.delete(`/hosts/${id}`),
        await user.post("/hosts/delete", { ids: [mine.id, id] }),
      ];
      for (const res of answers) {
        expect(res.status).toBe(404);
        expect((await json(res)).errors).toEqual([
          { name: "base", reason: `host ${id} was not found in the datastore` },
        ]);
      }
    }
    expect((await user.get("/hosts/identifier/theirs")).status).toBe(404);
    expect((await user.post("/hosts/delete", { filters: { team_id: other.id } })).status).toBe(403);
    expect(await t.store.hosts.count()).toBe(3);
    const observer = await makeUser(t, { teams: [{ id: own.id, role: "observer" }] });
    expect((await observer.delete(`/hosts/${mine.id}`)).status).toBe(403);
    const both = await makeUser(t, {
      teams: [
        { id: own.id, role: "observer" },
        { id: other.id, role: "maintainer" },
      ],
    });
    expect((await both.delete(`/hosts/${mine.id}`)).status).toBe(403);
    expect((await both.post("/hosts/delete", { ids: [theirs.id, mine.id] })).status).toBe(403);
    expect(await t.store.hosts.count()).toBe(3);
    expect((await both.post("/hosts/delete", { filters: {} })).status).toBe(200);
    expect((await names(t, "")).sort()).toEqual(["mine", "nobodys"]);
    expect((await user.post("/hosts/delete", { filters: {} })).status).toBe(200);
    expect(await names(t, "")).toEqual(["nobodys"]);
  });

  it("summarizes platforms, Linux of any kind, labels and disk space", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await makeHost(t, { platform: "ubuntu", gigs_disk_space_available: 3, gigs_total_disk_space: 9 });
    await makeHost(t, { platform: "rocky", platform_like: "rhel centos fedora" });
    await makeHost(t, { platform: "haiku" });
    await makeHost(t, { platform: "darwin", team_id: team.id });
    await makeHost(t, { platform: "darwin" });
    const all = await json(t.get("/host_summary?low_disk_space=10"));
    expect(all).toMatchObject({ totals_hosts_count: 5, all_linux_count: 2, low_disk_space_count: 1 });
    expect(all.platforms).toHaveLength(4);
    expect(all.platforms).toContainEqual({ platform: "darwin", hosts_count: 2 });
    expect(all).not.toHaveProperty("team_id");
    expect(await json(t.get(`/host_summary?team_id=${team.id}`))).toMatchObject({
      team_id: team.id,
      totals_hosts_count: 1,
    });
    expect(await json(t.get("/host_summary?platform=linux"))).toMatchObject({
      totals_hosts_count: 2,
      all_linux_count: 2,
    });
    expect((await t.get("/host_summary?low_disk_space=0")).status).toBe(400);
  });
});
