// Munki: GET /hosts/:id/desktopadmin and GET /desktopadmin.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const FIRST = "2026-02-01T00:00:00.000Z";

async function makeMac(t: TestApp, version: string, issueIds: number[], teamId: number | null = null) {
  const host = await makeHost(t, { platform: "darwin", team_id: teamId });
  await t.store.hostMunki.insert({
    id: host.id,
    version,
    issue_ids: issueIds,
    since: Object.fromEntries(issueIds.map((id) => [String(id), FIRST])),
    updated_at: t.clock.iso(),
  });
  return host;
}
const makeIssues = (t: TestApp) =>
  t.store.munkiIssues.insertMany([
    { name: "boom", type: "error" },
    { name: "slow", type: "warning" },
  ]);

describe.each(rulesEngines)("Munki on %s", (engine) => {
  it("returns a Mac's version, issues and device management, and null for other hosts", async () => {
    const t = await startApp({ engine });
    const [boom, slow] = await makeIssues(t);
    const mac = await makeMac(t, "6.3", [boom!.id, slow!.id]);
    const kandji = await t.store.mdmSolutions.insert({ name: "Kandji", server_url: "https://a.kandji.io" });
    await t.store.hostMdm.insert({ id: mac.id, enrollment_status: "On (automatic)", solution_id: kandji.id });
    expect(await json(t.get(`/hosts/${mac.id}/desktopadmin`))).toEqual({
      desktopadmin: {
        munki: { version: "6.3" },
        munki_issues: [
          { id: boom!.id, name: "boom", type: "error", created_at: FIRST },
          { id: slow!.id, name: "slow", type: "warning", created_at: FIRST },
        ],
        mobile_device_management: {
          enrollment_status: "On (automatic)",
          server_url: "https://a.kandji.io",
          name: "Kandji",
          id: kandji.id,
        },
      },
    });
    const bare = await makeHost(t, { platform: "darwin" });
    expect(await json(t.get(`/hosts/${bare.id}/desktopadmin`))).toEqual({
      desktopadmin: { munki: null, munki_issues: null, mobile_device_management: null },
    });
    const windows = await makeHost(t, { platform: "windows" });
    await t.store.hostMdm.insert({ id: windows.id, enrollment_status: "On (manual)" });
    expect(await json(t.get(`/hosts/${windows.id}/desktopadmin`))).toEqual({ desktopadmin: null });
    expect((await t.get("/hosts/99999/desktopadmin")).status).toBe(404);
  });

  it("counts Macs by version, issue and device management", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const [boom, slow] = await makeIssues(t);
    const a = await makeMac(t, "6.3", [boom!.id, slow!.id], team.id);
    await makeMac(t, "6.3", [slow!.id]);
    await makeMac(t, "6.4", []);
    await t.store.hostMdm.insert({ id: a.id, enrollment_status: "On (manual)" });
    const windows = await makeHost(t, { platform: "windows" });
    await t.store.hostMdm.insert({ id: windows.id, enrollment_status: "On (manual)" });
    expect(await json(t.get("/desktopadmin"))).toEqual({
      desktopadmin: {
        counts_updated_at: t.clock.iso(),
        munki_versions: [
          { version: "6.3", hosts_count: 2 },
          { version: "6.4", hosts_count: 1 },
        ],
        munki_issues: [
          { id: slow!.id, name: "slow", type: "warning", hosts_count: 2 },
          { id: boom!.id, name: "boom", type: "error", hosts_count: 1 },
        ],
        mobile_device_management_enrollment_status: {
          enrolled_manual_hosts_count: 1,
          enrolled_automated_hosts_count: 0,
          unenrolled_hosts_count: 0,
        },
        mobile_device_management_solution: [],
      },
    });
    const ofTeam = {
      desktopadmin: {
        munki_versions: [{ version: "6.3", hosts_count: 1 }],
        munki_issues: [
          { name: "boom", hosts_count: 1 },
          { name: "slow", hosts_count: 1 },
        ],
        mobile_device_management_enrollment_status: { enrolled_manual_hosts_count: 1 },
      },
    };
    expect(await json(t.get(`/desktopadmin?team_id=${team.id}`))).toMatchObject(ofTeam);
    const member = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect(await json(member.get("/desktopadmin"))).toMatchObject(ofTeam);
    expect((await member.get("/desktopadmin?team_id=0")).status).toBe(403);
    expect(await json(t.get("/desktopadmin?team_id=0"))).toMatchObject({
      desktopadmin: {
        munki_versions: [
          { version: "6.3", hosts_count: 1 },
          { version: "6.4", hosts_count: 1 },
        ],
        munki_issues: [{ name: "slow", hosts_count: 1 }],
      },
    });
  });
});
