// A few hosts that differ in everything that filters and selectors can test.
import { setDiskStates } from "../../src/server/hosts/disk-encryption/states.ts";
import { recordSettings } from "../../src/server/hosts/os-settings/statuses.ts";
import type { TestApp } from "./app.ts";
import { makeHost, makeInventory, makeLabel, makeSoftware, makeTeam } from "./make.ts";

const DAY = 86_400_000;

export interface Scene {
  readonly teamId: number;
  readonly labelId: number;
  readonly policyId: number;
  readonly teamPolicyId: number;
  readonly solutionId: number;
  readonly issueId: number;
  readonly figma: { readonly id: number; readonly title_id: number };
  readonly ids: ReadonlyMap<string, number>;
}

/** mac and win are managed by this server, server is a Windows server, tux is Linux, and bare has reported nothing. */
export async function makeScene(t: TestApp): Promise<Scene> {
  const { store, clock } = t;
  const now = clock.iso();
  const ago = (ms: number) => new Date(clock.now() - ms).toISOString();
  const team = await makeTeam(t, "Lab");
  const mac = await makeHost(
    t,
    {
      hostname: "mac",
      platform: "darwin",
      hardware_model: "MacBook Pro",
      memory: 16 * 2 ** 30,
      gigs_total_disk_space: 500,
      gigs_disk_space_available: 8,
      team_id: team.id,
      detail_updated_at: ago(DAY),
      disk_encryption_enabled: true,
      created_at: ago(40 * DAY),
      timezone: "Europe/Berlin",
    },
    { seen: now },
  );
  const win = await makeHost(
    t,
    {
      hostname: "win",
      platform: "windows",
      memory: 8 * 2 ** 30,
      gigs_total_disk_space: 250,
      gigs_disk_space_available: 100.5,
      disk_encryption_enabled: false,
      created_at: ago(40 * DAY),
    },
    { seen: ago(10 * DAY) },
  );
  const server = await makeHost(
    t,
    { hostname: "server", platform: "windows", created_at: ago(3 * DAY) },
    { seen: now },
  );
  const tux = await makeHost(
    t,
    { hostname: "tux", platform: "ubuntu", team_id: team.id, uptime: 3 * 86_400e9, created_at: ago(90 * DAY) },
    { seen: ago(31 * DAY) },
  );
  const bare = await makeHost(t, { hostname: "bare", platform: "", created_at: ago(50 * DAY) });

  const label = await makeLabel(t, "On loan", [mac.id, tux.id]);
  for (const name of ["B c", "C"]) await makeLabel(t, name, []);
  await makeLabel(t, "Über", [win.id]);
  const ubuntu = await store.osVersions.insert({ name: "Ubuntu", version: "24.04", platform: "ubuntu" });
  await store.hosts.update({ where: { op: "eq", column: "id", value: tux.id }, set: { os_version_id: ubuntu.id } });
  await store.osCves.insert({ os_version_id: ubuntu.id, cve: "CVE-2026-0002" });
  await store.hostEmails.insert({ host_id: mac.id, email: "Ada@Example.com", source: "custom" });

  const figma = await makeSoftware(t, "Figma", "1.2");
  const older = await makeSoftware(t, "Google Chrome", "140.0");
  const newer = await makeSoftware(t, "Google Chrome", "141.0");
  await store.softwareCves.insert({ software_id: older.id, cve: "CVE-2026-0001" });
  await makeInventory(t, mac.id, [figma, newer]);
  await makeInventory(t, win.id, [older]);
  await store.softwareInstalls.insertMany([
    { host_id: mac.id, title_id: figma.title_id, status: "installed" },
    { host_id: tux.id, title_id: figma.title_id, status: "pending_install" },
    { host_id: win.id, title_id: figma.title_id, status: "failed_uninstall" },
  ]);

  // Ids and result ids differ, so that none is mistaken for the other.
  const policy = { created_at: now, updated_at: now, query: "select 1" };
  const [disk, teamPolicy] = await store.policies.insertMany([
    { ...policy, name: "Disk encrypted", scope: "global", result_id: 901 },
    { ...policy, name: "Firewall on", scope: "team", team_id: team.id, result_id: 902 },
  ]);
  await store.hostPolicies.insertMany([
    { id: mac.id, passing: [901], failing: [902], critical_count: 0, issues_count: 1 },
    { id: win.id, passing: [], failing: [901], critical_count: 0, issues_count: 1 },
    { id: tux.id, passing: [901, 902], failing: [], critical_count: 0, issues_count: 0 },
  ]);

  const [solution, other] = await store.mdmSolutions.insertMany([
    { name: "Svc", server_url: "https://svc.example.com" },
    { name: "Rival", server_url: "https://rival.example.com" },
  ]);
  await store.hostMdm.insertMany([
    {
      id: mac.id,
      enrollment_status: "On (automatic)",
      solution_id: solution!.id,
      installed_from_dep: true,
      connected_to_svc: true,
    },
    { id: win.id, enrollment_status: "On (manual)", solution_id: solution!.id, connected_to_svc: true },
    { id: server.id, enrollment_status: "On (manual)", solution_id: solution!.id, is_server: true },
    { id: bare.id, enrollment_status: "Pending", solution_id: other!.id },
    { id: tux.id, enrollment_status: "Off" },
  ]);
  const profile = { name: "Wi-Fi", operation_type: "install" } as const;
  await store.hostProfiles.insertMany([
    { ...profile, host_id: mac.id, profile_uuid: "p-1", platform: "darwin", status: "verified" },
    { ...profile, host_id: mac.id, profile_uuid: "p-2", platform: "darwin", status: "verifying", name: "VPN" },
    { ...profile, host_id: win.id, profile_uuid: "p-3", platform: "windows", status: "failed" },
    { ...profile, host_id: server.id, profile_uuid: "p-3", platform: "windows", status: "verified" },
  ]);
  await recordSettings(store, "profiles", [
    { id: mac.id, status: "verifying" },
    { id: win.id, status: "failed" },
    { id: server.id, status: "verified" },
  ]);
  await setDiskStates(store, [
    { id: mac.id, status: "action_required", detail: "" },
    { id: win.id, status: "verified", detail: "" },
  ]);
  await store.hostBootstrap.insertMany([{ id: mac.id, status: "failed" }]);
  const issue = await store.munkiIssues.insert({ name: "Could not check", type: "error" });
  await store.hostMunki.insert({
    id: mac.id,
    version: "6.5",
    issue_ids: [issue.id],
    since: { [issue.id]: now },
    updated_at: now,
  });
  return {
    teamId: team.id,
    labelId: label.id,
    policyId: disk!.id,
    teamPolicyId: teamPolicy!.id,
    solutionId: solution!.id,
    issueId: issue.id,
    figma,
    ids: new Map([mac, win, server, tux, bare].map(({ hostname, id }) => [hostname, id])),
  };
}
