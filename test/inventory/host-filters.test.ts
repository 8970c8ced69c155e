// Every filter of hosts, in list, count and report.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene, type Scene } from "../support/hosts.ts";
import { makeUser } from "../support/make.ts";

type Get = Pick<TestApp, "get">;

async function bodyOf(caller: Get, path: string): Promise<Record<string, unknown>> {
  const res = await caller.get(path);
  expect(res.status, `${path}: ${await res.clone().text()}`).toBe(200);
  return (await res.json()) as Record<string, unknown>;
}
const listed = async (caller: Get, query: string): Promise<string[]> =>
  ((await bodyOf(caller, `/hosts?${query}`)).hosts as Host[]).map(({ hostname }) => hostname).sort();
const counted = async (caller: Get, query: string) => (await bodyOf(caller, `/hosts/count?${query}`)).count;
async function reported(caller: Get, query: string): Promise<string[]> {
  const res = await caller.get(`/hosts/report?format=csv&columns=hostname&${query}`);
  expect(res.status, query).toBe(200);
  return (await res.text()).trim().split("\r\n").slice(1).sort();
}
async function refusal(caller: Get, path: string): Promise<[number, string, string]> {
  const res = await caller.get(path);
  const body = (await res.json()) as { errors?: { name: string; reason: string }[] };
  return [res.status, body.errors?.[0]?.name ?? "", body.errors?.[0]?.reason ?? ""];
}

describe.each(bothEngines)("host filters on %s", (engine) => {
  let t: TestApp;
  let scene: Scene;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    scene = await makeScene(t);
  });
  afterAll(() => t.close());

  it("select the hosts according to the table, in lists, counts and reports", async () => {
    const { teamId, policyId, teamPolicyId, solutionId, issueId, figma } = scene;
    const cases: [string, string[]][] = [
      ["status=new", []],
      ["status=online", ["mac", "server"]],
      ["status=mia", ["bare", "tux"]],
      ["query=ada@example", ["mac"]],
      [`team_id=${teamId}`, ["mac", "tux"]],
      ["team_id=0", ["bare", "server", "win"]],
      [`policy_id=${policyId}`, ["bare", "mac", "server", "tux", "win"]],
      [`policy_id=${policyId}&policy_response=passing`, ["mac", "tux"]],
      [`policy_id=${policyId}&policy_response=failing`, ["win"]],
      [`policy_id=${teamPolicyId}&policy_response=failing`, ["mac"]],
      [`policy_id=${policyId}&policy_response=none`, ["bare", "server"]],
      [`policy_id=${policyId}&policy_response=none&status=online`, ["server"]],
      [`policy_id=${teamPolicyId}&policy_response=none`, []],
      ["policy_id=901&policy_response=passing", []],
      ["policy_id=901&policy_response=none", []],
      [`software_version_id=${figma.id}`, ["mac"]],
      [`software_title_id=${figma.title_id}`, ["mac"]],
      [`software_title_id=${figma.title_id}&software_status=pending&team_id=${teamId}`, ["tux"]],
      [`software_title_id=${figma.title_id}&software_status=installed&team_id=${teamId}`, ["mac"]],
      [`software_title_id=${figma.title_id}&software_status=failed&team_id=0`, ["win"]],
      [`software_title_id=${figma.title_id}&software_status=failed`, ["win"]],
      [`software_title_id=${figma.title_id}&software_status=failed_install&team_id=0`, []],
      ["os_name=Ubuntu&os_version=24.04", ["tux"]],
      ["vulnerability=cve-2026-0001", ["win"]],
      ["vulnerability=CVE-2026-0002", ["tux"]],
      ["vulnerability=CVE-2026-0003", []],
      [`mdm_id=${solutionId}`, ["mac", "win"]],
      ["mdm_name=Svc", ["mac", "win"]],
      ["mdm_name=Rival", ["bare"]],
      ["mdm_enrollment_status=automatic", ["mac"]],
      ["mdm_enrollment_status=manual", ["win"]],
      ["mdm_enrollment_status=enrolled", ["mac", "win"]],
      ["mdm_enrollment_status=pending", ["bare"]],
      ["mdm_enrollment_status=unenrolled", ["tux"]],
      ["connected_to_svc=true", ["mac", "win"]],
      ["connected_to_svc=0", ["bare", "server", "tux"]],
      // Disk encryption counts as a setting: a required action of the user is pending.
      ["os_settings=pending", ["mac"]],
      ["os_settings=failed", ["win"]],
      ["os_settings=verified", []],
      ["os_settings=verifying", []],
      [`macos_settings=pending&team_id=${teamId}`, ["mac"]],
      ["macos_settings=pending", []],
      ["macos_settings=failed", []],
      ["macos_settings_disk_encryption=action_required", ["mac"]],
      ["macos_settings_disk_encryption=verified", []],
      ["os_settings_disk_encryption=verified", ["win"]],
      ["profile_uuid=p-2&profile_status=verifying", ["mac"]],
      ["profile_uuid=p-3&profile_status=verified", ["server"]],
      ["profile_uuid=p-1&profile_status=failed", []],
      ["bootstrap_package=failed", ["mac"]],
      ["bootstrap_package=installed", []],
      [`munki_issue_id=${issueId}`, ["mac"]],
      ["low_disk_space=10", ["mac"]],
      [`mdm_name=Svc&status=offline`, ["win"]],
      ["where=platform%20%3D%20darwin", ["mac"]],
    ];
    for (const [query, expected] of cases) {
      expect(await listed(t, query), query).toEqual(expected);
      expect(await counted(t, query), query).toBe(expected.length);
      expect(await reported(t, query), query).toEqual(expected);
    }
  });

  it("report errors with the name of the filter", async () => {
    const cases: [string, string, string][] = [
      [
        "policy_response=passing",
        "policy_id",
        "Missing policy_id (it must be present when policy_response is specified)",
      ],
      ["policy_id=1&policy_response=maybe", "policy_response", "Invalid policy_response: maybe"],
      ["policy_id=x", "policy_id", "Invalid policy_id: x"],
      [
        "software_status=failed",
        "software_title_id",
        "Missing software_title_id (it must be present when software_status is specified)",
      ],
      ["nonsense=1", "nonsense", 'unsupported parameter provided: "nonsense"'],
      ["mdm_nam=x", "mdm_nam", 'unsupported parameter provided: "mdm_nam". Did you mean "mdm_name"?'],
      [
        "software_status=failed&software_version_id=1",
        "software_status",
        "Invalid software_status: failed (it cannot be used with software_version_id)",
      ],
      ["software_status=lost&software_title_id=1", "software_status", "Invalid software_status: lost"],
      ["vulnerability=2026-1", "vulnerability", "Invalid vulnerability: 2026-1"],
      ["mdm_enrollment_status=on", "mdm_enrollment_status", "Invalid mdm_enrollment_status: on"],
      ["connected_to_svc=maybe", "connected_to_svc", "Invalid connected_to_svc: maybe"],
      ["macos_settings=done", "macos_settings", "Invalid macos_settings: done"],
      [
        "os_settings_disk_encryption=pending",
        "os_settings_disk_encryption",
        "Invalid os_settings_disk_encryption: pending",
      ],
      [
        "profile_uuid=a",
        "profile_status",
        "Missing profile_status (it must be present when profile_uuid is specified)",
      ],
      [
        "profile_status=failed",
        "profile_uuid",
        "Missing profile_uuid (it must be present when profile_status is specified)",
      ],
      ["bootstrap_package=lost", "bootstrap_package", "Invalid bootstrap_package: lost"],
      ["low_disk_space=101", "low_disk_space", "Invalid low_disk_space: 101"],
      ["os_name=Ubuntu", "os_version", "Missing os_version (it must be present when os_name is specified)"],
      [
        "where=platfrom%20%3D%20a",
        "where",
        'Invalid where: column 1: there is no field "platfrom"; did you mean "platform"?',
      ],
    ];
    for (const [query, name, reason] of cases)
      for (const path of ["/hosts?", "/hosts/count?", "/hosts/report?format=csv&"])
        expect(await refusal(t, `${path}${query}`), `${path}${query}`).toEqual([400, name, reason]);
  });

  it("allow only a few others together with a label, if hosts are counted and exported", async () => {
    const { labelId, teamId } = scene;
    for (const query of [
      `label_id=${labelId}`,
      `label_id=${labelId}&team_id=${teamId}`,
      `label_id=${labelId}&order_key=hostname&order_direction=desc`,
    ]) {
      expect(await counted(t, query), query).toBe(2);
      expect(await reported(t, query), query).toEqual(["mac", "tux"]);
    }
    expect(await counted(t, `label_id=${labelId}&status=online&query=ma`)).toBe(1);
    for (const path of ["/hosts/count?", "/hosts/report?format=csv&"])
      expect(await refusal(t, `${path}label_id=${labelId}&mdm_name=Svc`)).toEqual([
        400,
        "label_id",
        `Invalid label_id: ${labelId} (it cannot be used with mdm_name)`,
      ]);
  });

  it("return the object that the hosts were limited to, for users who can see such a host", async () => {
    const { teamId, solutionId, issueId, figma } = scene;
    expect(await bodyOf(t, `/hosts?mdm_id=${solutionId}`)).toMatchObject({
      mobile_device_management_solution: { id: solutionId, name: "Svc", server_url: "https://svc.example.com" },
    });
    expect(await bodyOf(t, `/hosts?munki_issue_id=${issueId}`)).toMatchObject({
      munki_issue: { id: issueId, name: "Could not check", type: "error" },
    });
    expect(await bodyOf(t, "/hosts?mdm_id=99999")).not.toHaveProperty("mobile_device_management_solution");
    const other = await makeUser(t, { teams: [{ id: teamId, role: "observer" }] });
    expect(await bodyOf(other, `/hosts?munki_issue_id=${issueId}`)).toHaveProperty("munki_issue");
    const nobody = await makeUser(t, {
      teams: [
        {
          id: (
            await t.store.teams.insert({
              created_at: t.clock.iso(),
              updated_at: t.clock.iso(),
              name: "Elsewhere",
              name_key: "elsewhere",
              settings: (await t.store.teams.get(teamId))!.settings,
            })
          ).id,
          role: "admin",
        },
      ],
    });
    const found = await bodyOf(nobody, `/hosts?munki_issue_id=${issueId}&software_title_id=${figma.title_id}`);
    expect(found).toMatchObject({ hosts: [] });
    for (const key of ["munki_issue", "software_title"]) expect(found).not.toHaveProperty(key);
  });

  it("show no host of another team, with any filter", async () => {
    const member = await makeUser(t, { teams: [{ id: scene.teamId, role: "observer" }] });
    for (const query of [
      "",
      "status=offline",
      "where=not%20platform%20%3D%20darwin",
      "mdm_name=Svc",
      "connected_to_svc=false",
    ]) {
      const names = await listed(member, query);
      expect(
        names.filter((name) => !["mac", "tux"].includes(name)),
        query,
      ).toEqual([]);
      expect(await counted(member, query), query).toBe(names.length);
      expect(await reported(member, query), query).toEqual(names);
    }
    expect((await refusal(member, "/hosts?team_id=0"))[0]).toBe(403);
    const gitops = await makeUser(t, "gitops");
    for (const path of ["/hosts", "/hosts/count", "/hosts/report?format=csv", "/host_summary"])
      expect((await gitops.get(path)).status, path).toBe(403);
  });

  it("order by issues, with hosts without results among those without issues", async () => {
    const order = async (query: string) =>
      ((await bodyOf(t, `/hosts?order_key=issues&${query}`)).hosts as Host[]).map(({ hostname }) => hostname);
    const up = ["server", "tux", "bare", "mac", "win"];
    expect(await order("")).toEqual(up);
    expect(await order("order_direction=desc")).toEqual([...up].reverse());
    for (let page = 0; page < 4; page++) {
      const query = `page=${page}&per_page=2`;
      expect(await order(query), query).toEqual(up.slice(page * 2, page * 2 + 2));
      expect(await order(`order_direction=desc&${query}`), query).toEqual(
        [...up].reverse().slice(page * 2, page * 2 + 2),
      );
    }
    const { meta } = await bodyOf(t, "/hosts?order_key=issues&page=1&per_page=2");
    expect(meta).toEqual({ has_next_results: true, has_previous_results: true });
    const csv = await (await t.get("/hosts/report?format=csv&columns=hostname,issues&order_key=issues")).text();
    expect(csv.trim().split("\r\n").slice(1)).toEqual(["server,0", "tux,0", "bare,0", "mac,1", "win,1"]);
    const refused = "Invalid order_key: issues (it cannot be used with disable_issues)";
    for (const path of ["/hosts?", "/hosts/count?", "/hosts/report?format=csv&"]) {
      expect(await refusal(t, `${path}order_key=issues&disable_issues=true`)).toEqual([400, "order_key", refused]);
      expect(await refusal(t, `${path}order_key=issues&disable_failing_policies=1`)).toEqual([
        400,
        "order_key",
        refused,
      ]);
      expect((await t.get(`${path}order_key=issues&disable_failing_policies=1&disable_issues=false`)).status).toBe(200);
    }
  });

  it("summarize with the platform and low disk space", async () => {
    const { teamId } = scene;
    expect(await bodyOf(t, `/host_summary?team_id=${teamId}&low_disk_space=10`)).toMatchObject({
      team_id: teamId,
      totals_hosts_count: 2,
      online_count: 1,
      offline_count: 1,
      mia_count: 1,
      missing_30_days_count: 1,
      new_count: 0,
      all_linux_count: 1,
      low_disk_space_count: 1,
      platforms: [
        { platform: "darwin", hosts_count: 1 },
        { platform: "ubuntu", hosts_count: 1 },
      ],
    });
    const wrong = await t.get("/host_summary?platform=zz");
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { errors: [{ name: "platform", reason: "Invalid platform: zz" }] },
    ]);
    expect(await bodyOf(t, "/host_summary?platform=ipados")).toMatchObject({ totals_hosts_count: 0 });
    expect(await bodyOf(t, "/host_summary?platform=windows")).toMatchObject({
      totals_hosts_count: 2,
      all_linux_count: 0,
    });
    expect(await bodyOf(t, "/host_summary?platform=linux")).toMatchObject({
      totals_hosts_count: 1,
      all_linux_count: 1,
    });
    for (const query of ["low_disk_space=0", "low_disk_space=101", "low_disk_space=a"])
      expect((await t.get(`/host_summary?${query}`)).status, query).toBe(400);
  });
});

describe("host filters on the free tier", () => {
  it("refuse premium filters", async () => {
    const t = await startApp({ tier: "free" });
    for (const query of ["team_id=1", "low_disk_space=5", "bootstrap_package=failed"])
      for (const path of ["/hosts?", "/hosts/count?", "/hosts/report?format=csv&"])
        expect((await t.get(`${path}${query}`)).status, `${path}${query}`).toBe(402);
    expect((await t.get("/host_summary?low_disk_space=5")).status).toBe(402);
    expect((await t.get("/hosts?macos_settings=failed&os_settings=failed&mdm_name=a")).status).toBe(200);
  });
});
