// Device management of hosts: GET /hosts/:id/mdm, /hosts/summary/mdm, encryption keys, unenrolling.
import { describe, expect, it } from "vitest";
import type { Host } from "../../src/api/hosts/host.ts";
import type { hostMdm } from "../../src/server/hosts/mdm-status/tables.ts";
import type { InsertOf } from "../../src/server/platform/store/table.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

async function makeMdm(
  t: TestApp,
  platform: string,
  mdm: Partial<InsertOf<typeof hostMdm>>,
  teamId: number | null = null,
) {
  const host = await makeHost(t, { platform, team_id: teamId });
  await t.store.hostMdm.insert({ enrollment_status: "On (manual)", ...mdm, id: host.id });
  return host;
}

describe.each(rulesEngines)("device management of hosts on %s", (engine) => {
  it("returns where a host is enrolled, and null if it is not", async () => {
    const t = await startApp({ engine });
    const jamf = await t.store.mdmSolutions.insert({ name: "Jamf", server_url: "https://x.jamfcloud.com/mdm" });
    const solution_id = jamf.id;
    const on = await makeMdm(t, "darwin", { enrollment_status: "On (automatic)", solution_id });
    expect(await json(t.get(`/hosts/${on.id}/mdm`))).toEqual({
      enrollment_status: "On (automatic)",
      server_url: "https://x.jamfcloud.com/mdm",
      name: "Jamf",
      id: jamf.id,
    });
    const personal = await makeMdm(t, "windows", { enrollment_status: "On (personal)" });
    expect(await json(t.get(`/hosts/${personal.id}/mdm`))).toEqual({
      enrollment_status: "On (personal)",
      server_url: "",
      name: "",
      id: null,
    });
    const server = await makeMdm(t, "windows", { is_server: true, connected_to_svc: true, solution_id });
    expect(await json(t.get(`/hosts/${server.id}/mdm`))).toMatchObject({ enrollment_status: "On (manual)" });
    const { host } = (await json(t.get(`/hosts/${server.id}`))) as { host: { mdm: object } };
    expect(host.mdm).toMatchObject({ enrollment_status: "On (manual)", connected_to_svc: true });
    const none = [
      await makeMdm(t, "windows", { is_server: true, solution_id }),
      await makeMdm(t, "darwin", { enrollment_status: "Off" }),
      await makeMdm(t, "darwin", { enrollment_status: "Pending", installed_from_dep: true }),
      await makeMdm(t, "ubuntu", { solution_id }),
      await makeHost(t, { platform: "darwin" }),
    ];
    for (const host of none) {
      const res = await t.get(`/hosts/${host.id}/mdm`);
      expect([res.status, await res.text()]).toEqual([200, "null"]);
    }
    expect((await t.get("/hosts/99999/mdm")).status).toBe(404);
  });

  it("counts hosts by enrollment and product, without Windows servers", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const [jamf, intune] = await t.store.mdmSolutions.insertMany([
      { name: "Jamf", server_url: "https://x.jamfcloud.com" },
      { name: "Intune", server_url: "https://manage.microsoft.com" },
    ]);
    await makeMdm(t, "darwin", { enrollment_status: "On (automatic)", solution_id: jamf!.id }, team.id);
    await makeMdm(t, "darwin", { enrollment_status: "On (automatic)", solution_id: jamf!.id });
    await makeMdm(t, "windows", { enrollment_status: "On (manual)", solution_id: intune!.id }, team.id);
    await makeMdm(t, "windows", { enrollment_status: "On (manual)", solution_id: intune!.id, is_server: true });
    await makeMdm(t, "darwin", { enrollment_status: "On (personal)" });
    await makeMdm(t, "darwin", { enrollment_status: "Off" });
    await makeMdm(t, "darwin", { enrollment_status: "Pending" });
    await makeHost(t, { platform: "ubuntu" });
    const summary = async (query: string) => {
      const reply = await json(t.get(`/hosts/summary/mdm${query}`));
      const { mobile_device_management_enrollment_status: status, mobile_device_management_solution: solutions } =
        reply as { [key: string]: Record<string, number>[] & Record<string, number> };
      expect(reply.counts_updated_at).toBe(t.clock.iso());
      return {
        counts: [
          status!.enrolled_automated_hosts_count,
          status!.enrolled_manual_hosts_count,
          status!.enrolled_personal_hosts_count,
          status!.unenrolled_hosts_count,
          status!.hosts_count,
        ],
        solutions: solutions!.map(({ name, hosts_count }) => `${name} ${hosts_count}`),
      };
    };
    expect(await summary("")).toEqual({ counts: [2, 1, 1, 1, 6], solutions: ["Jamf 2", "Intune 1"] });
    expect(await summary("?platform=windows")).toEqual({ counts: [0, 1, 0, 0, 1], solutions: ["Intune 1"] });
    expect(await summary("?platform=darwin")).toEqual({ counts: [2, 0, 1, 1, 5], solutions: ["Jamf 2"] });
    expect(await summary(`?team_id=${team.id}`)).toEqual({
      counts: [1, 1, 0, 0, 2],
      solutions: ["Intune 1", "Jamf 1"],
    });
    expect(await summary("?team_id=0&platform=darwin")).toEqual({ counts: [1, 0, 1, 1, 4], solutions: ["Jamf 1"] });
    const bad = await t.get("/hosts/summary/mdm?platform=linux");
    expect([bad.status, await bad.json()]).toMatchObject([
      400,
      { errors: [{ name: "platform", reason: "Invalid platform: linux" }] },
    ]);

    // A team's user counts its own team's hosts, and cannot select others.
    const member = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect(await json(member.get("/hosts/summary/mdm"))).toMatchObject({
      mobile_device_management_enrollment_status: { hosts_count: 2 },
    });
    expect((await member.get("/hosts/summary/mdm?team_id=0")).status).toBe(403);
  });

  it("returns the complete mdm object of one host, by platform", async () => {
    const t = await startApp({ engine });
    const mac = await makeMdm(t, "darwin", {
      enrollment_status: "On (automatic)",
      connected_to_svc: true,
      enrolled_at: "2026-02-01T00:00:00.000Z",
      checked_in_at: "2026-02-02T00:00:00.000Z",
    });
    await t.store.hostProfiles.insertMany([
      {
        host_id: mac.id,
        profile_uuid: "p-1",
        platform: "darwin",
        name: "Wi-Fi",
        status: "failed",
        operation_type: "install",
        detail: "no",
      },
    ]);
    await t.store.hostDiskEncryption.insert({
      id: mac.id,
      status: "action_required",
      detail: "log_out",
      key: "K",
      key_updated_at: "2026-02-03T00:00:00.000Z",
    });
    await t.store.hostBootstrap.insert({ id: mac.id, status: "installed", package_name: "setup.pkg" });
    await t.store.hostActions.insert({ id: mac.id, locked: true, pending: "unlock" });
    const hostOf = async (id: number) => (await json(t.get(`/hosts/${id}`))).host as Host;
    expect(await hostOf(mac.id)).toMatchObject({
      last_mdm_enrolled_at: "2026-02-01T00:00:00.000Z",
      last_mdm_checked_in_at: "2026-02-02T00:00:00.000Z",
      mdm: {
        encryption_key_available: false,
        enrollment_status: "On (automatic)",
        connected_to_svc: true,
        dep_profile_error: false,
        device_status: "locked",
        pending_action: "unlock",
        macos_settings: { disk_encryption: "action_required", action_required: "log_out" },
        macos_setup: { bootstrap_package_status: "installed", detail: "", bootstrap_package_name: "setup.pkg" },
        os_settings: { disk_encryption: { status: "action_required", detail: "log_out" } },
        profiles: [
          {
            profile_uuid: "p-1",
            name: "Wi-Fi",
            status: "failed",
            operation_type: "install",
            scope: "",
            managed_local_account: "",
            detail: "no",
          },
        ],
      },
    });
    await t.store.hostDiskEncryption.update({ where: { op: "all" }, set: { status: "verified" } });
    expect((await hostOf(mac.id)).mdm).toMatchObject({
      encryption_key_available: true,
      macos_settings: { disk_encryption: "verified", action_required: null },
    });
    const linux = await makeHost(t, { platform: "ubuntu" });
    const { mdm } = await hostOf(linux.id);
    expect(mdm).toMatchObject({
      enrollment_status: null,
      server_url: null,
      device_status: "unlocked",
      pending_action: "",
      os_settings: { disk_encryption: { status: null, detail: "" } },
      profiles: [],
    });
    expect(mdm).not.toHaveProperty("macos_settings");
    const { hosts } = (await json(t.get("/hosts"))) as { hosts: Host[] };
    expect(hosts.find(({ id }) => id === mac.id)!.mdm).toMatchObject({
      enrollment_status: "On (automatic)",
      device_status: "locked",
      encryption_key_available: true,
    });
    expect(hosts[0]!.mdm).not.toHaveProperty("profiles");
  });

  it("returns a disk encryption key only if it is verified, and records who read it", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const host = await makeHost(t, { display_name: "mac 1", team_id: team.id });
    const key = () => t.get(`/hosts/${host.id}/encryption_key`);
    const missing = `disk encryption key of host ${host.id} was not found in the datastore`;
    const refused = async (reason = missing) => {
      const res = await key();
      expect([res.status, await res.json()]).toMatchObject([
        404,
        {
          message: "Resource Not Found",
          errors: [{ name: "base", reason }],
        },
      ]);
    };
    await refused();
    const updated = "2026-02-03T00:00:00.000Z";
    await t.store.hostDiskEncryption.insert({
      id: host.id,
      status: "verifying",
      key: "TOP-KEY",
      key_updated_at: updated,
    });
    await refused(
      `the disk encryption key of host ${host.id} can be read once its disk encryption is verified; it is verifying now`,
    );
    expect(await t.store.activities.count({ op: "eq", column: "type", value: "read_host_disk_encryption_key" })).toBe(
      0,
    );
    await t.store.hostDiskEncryption.update({ where: { op: "all" }, set: { status: "verified" } });
    expect(await json(key())).toEqual({ host_id: host.id, encryption_key: { key: "TOP-KEY", updated_at: updated } });
    expect(await json(t.get("/activities?activity_type=read_host_disk_encryption_key"))).toMatchObject({
      activities: [{ actor_email: "ada@example.com", details: { host_id: host.id, host_display_name: "mac 1" } }],
    });
    // The older name of the path, in every version.
    expect(
      (
        await t.raw(`/api/latest/svc/mdm/hosts/${host.id}/encryption_key`, {
          headers: { authorization: `Bearer ${t.token}` },
        })
      ).status,
    ).toBe(200);

    const other = await makeTeam(t);
    const foreign = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect((await foreign.get(`/hosts/${host.id}/encryption_key`)).status).toBe(404);
    const gitops = await makeUser(t, "gitops");
    expect((await gitops.get(`/hosts/${host.id}/encryption_key`)).status).toBe(403);
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect((await observer.get(`/hosts/${host.id}/encryption_key`)).status).toBe(200);
    await t.store.hostDiskEncryption.update({ where: { op: "all" }, set: { key: null } });
    await refused();
  });

  it("ends the management of a host, by either path, and records it", async () => {
    const t = await startApp({ engine });
    for (const [method, pathOf, status] of [
      ["DELETE", (id: number) => `/hosts/${id}/mdm`, 204],
      ["PATCH", (id: number) => `/mdm/hosts/${id}/unenroll`, 200],
      ["PATCH", (id: number) => `/hosts/${id}/unenroll`, 200],
    ] as const) {
      const mac = await makeMdm(t, "darwin", { connected_to_svc: true, installed_from_dep: true });
      const other = await makeMdm(t, "darwin", { connected_to_svc: true });
      for (const { id } of [mac, other])
        await t.store.hostProfiles.insert({
          host_id: id,
          profile_uuid: "p",
          platform: "darwin",
          name: "p",
          status: "verified",
          operation_type: "install",
        });
      expect((await t.request(method, pathOf(mac.id))).status).toBe(status);
      expect(await t.store.hostMdm.get(mac.id)).toMatchObject({ enrollment_status: "Off", connected_to_svc: false });
      expect(await t.store.hostMdm.get(other.id)).toMatchObject({ connected_to_svc: true });
      expect(await json(t.get(`/hosts/${mac.id}`))).toMatchObject({
        host: { mdm: { enrollment_status: "Off", connected_to_svc: false, profiles: [] } },
      });
      expect(await t.store.hostProfiles.count({ op: "eq", column: "host_id", value: other.id })).toBe(1);
      expect(await json(t.get("/activities?order_key=id&order_direction=desc&per_page=1"))).toMatchObject({
        activities: [
          {
            type: "mdm_unenrolled",
            actor_email: "ada@example.com",
            details: {
              host_serial: mac.hardware_serial,
              host_display_name: mac.display_name,
              installed_from_dep: true,
              platform: "darwin",
            },
          },
        ],
      });
      expect((await t.request(method, pathOf(mac.id))).status).toBe(400);
    }
  });

  it("refuses to turn off what is not turned on, for users with the right to do so", async () => {
    const t = await startApp({ engine });
    const host = await makeMdm(t, "darwin", { enrollment_status: "On (manual)" });
    for (const [method, path] of [
      ["DELETE", `/hosts/${host.id}/mdm`],
      ["PATCH", `/mdm/hosts/${host.id}/unenroll`],
    ] as const) {
      const res = await t.request(method, path);
      expect([res.status, await res.json()]).toMatchObject([
        400,
        {
          message: "device management is not turned on",
          errors: [{ name: "base", reason: "device management is not turned on" }],
        },
      ]);
      expect((await t.request(method, path.replace(String(host.id), "99999"))).status).toBe(404);
      const observer = await makeUser(t, "observer");
      expect((await observer.request(method, path)).status).toBe(403);
    }
    expect(await json(t.get(`/hosts/${host.id}/configuration_profiles`))).toEqual({ host_id: host.id, profiles: [] });
    expect((await t.get("/hosts/99999/configuration_profiles")).status).toBe(404);
    const technician = await makeUser(t, "technician");
    expect((await technician.get(`/hosts/${host.id}/configuration_profiles`)).status).toBe(200);
    const observer = await makeUser(t, "observer");
    expect((await observer.get(`/hosts/${host.id}/configuration_profiles`)).status).toBe(403);
  });
});

describe("device management on the free tier", () => {
  it("counts all hosts, and refuses the filter by team", async () => {
    const t = await startApp({ tier: "free" });
    await makeMdm(t, "darwin", {});
    expect(await json(t.get("/hosts/summary/mdm"))).toMatchObject({
      mobile_device_management_enrollment_status: { enrolled_manual_hosts_count: 1 },
    });
    expect((await t.get("/hosts/summary/mdm?team_id=1")).status).toBe(402);
    expect((await t.get("/desktopadmin?team_id=1")).status).toBe(402);
  });
});
