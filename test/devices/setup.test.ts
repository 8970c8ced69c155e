// Settings of what happens on a device before its user can use it.
import { describe, expect, it } from "vitest";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import type { Team } from "../../src/api/settings/teams.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";

const setupOf = async (t: TestApp, teamId = 0): Promise<unknown> => {
  if (teamId === 0) return ((await (await t.get("/config")).json()) as AppConfig).mdm.macos_setup;
  return ((await (await t.get(`/teams/${teamId}`)).json()) as { team: Team }).team.mdm.macos_setup;
};
const lastActivity = async (t: TestApp) => {
  const reply = await t.get("/activities?order_key=id&order_direction=desc&per_page=1");
  return ((await reply.json()) as { activities: { type: string }[] }).activities[0];
};
const errorOf = async (response: Response): Promise<[number, string]> => {
  const { errors } = (await response.json()) as { errors: { name: string }[] };
  return [response.status, errors[0]!.name];
};
const identityProvider = {
  entity_id: "https://svc",
  idp_name: "Sign in",
  metadata_url: "https://idp.example.com/metadata",
};

describe.each(rulesEngines)("settings of the setup on %s", (engine) => {
  it("are those of a team or of hosts without one, under both paths", async () => {
    const t = await startApp({ engine });
    await t.patch("/config", { mdm: { end_user_authentication: identityProvider } });
    expect((await t.patch("/setup_experience", { enable_end_user_authentication: true })).status).toBe(204);
    expect(await lastActivity(t)).toMatchObject({ type: "enabled_macos_setup_end_user_auth" });
    expect(await setupOf(t)).toMatchObject({ enable_end_user_authentication: true, lock_end_user_info: true });
    const change = { team_id: 0, lock_end_user_info: false, require_all_software_windows: true };
    expect((await t.patch("/mdm/vendora/setup", change)).status).toBe(204);
    expect(await setupOf(t)).toMatchObject({
      enable_end_user_authentication: true,
      lock_end_user_info: false,
      require_all_software_windows: true,
    });
  });

  it("of a team can be changed while device management is off, too, and are recorded", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const body = { team_id: team.id, enable_managed_local_account: true, end_user_local_account_type: "standard" };
    const switches = { team_id: team.id, enable_release_device_manually: true };
    expect((await t.patch("/setup_experience", switches)).status).toBe(204);
    expect(await setupOf(t, team.id)).toMatchObject({ enable_release_device_manually: true });
    expect((await t.post("/managed_local_account", body)).status).toBe(204);
    await turnOnAppleMdm(t);
    expect((await t.post("/managed_local_account", body)).status).toBe(204);
    expect(await setupOf(t, team.id)).toMatchObject({
      enable_managed_local_account: true,
      end_user_local_account_type: "standard",
    });
    expect(await lastActivity(t)).toMatchObject({ type: "edited_team", details: { team_id: team.id } });
    expect(await setupOf(t), "no team's are others").toMatchObject({ enable_managed_local_account: false });

    const off = { team_id: team.id, enable_managed_local_account: false };
    const kept = { ...off, end_user_local_account_type: "standard" };
    expect(await errorOf(await t.post("/managed_local_account", kept))).toEqual([422, "end_user_local_account_type"]);
    const isOff = { enable_managed_local_account: false, end_user_local_account_type: "admin" };
    for (const turnOff of [
      () => t.post("/managed_local_account", off),
      () => t.patch("/setup_experience", off),
      () => t.patch(`/teams/${team.id}`, { mdm: { macos_setup: { enable_managed_local_account: false } } }),
    ]) {
      await t.post("/managed_local_account", body);
      const response = await turnOff();
      expect(response.status, await response.text()).toBeLessThan(300);
      expect(await setupOf(t, team.id)).toMatchObject(isOff);
    }
  });

  it("are refused where one needs another", async () => {
    const t = await startApp({ engine });
    const refused = async (given: object) => errorOf(await t.patch("/setup_experience", given));
    const account = [422, "end_user_local_account_type"];
    expect(await refused({ end_user_local_account_type: "none" })).toEqual(account);
    const none = { end_user_local_account_type: "none" };
    expect(await errorOf(await t.post("/managed_local_account", none))).toEqual(account);
    expect(await refused({ end_user_local_account_type: "guest" })).toEqual(account);
    expect(await refused({ enable_end_user_authentication: true })).toEqual([422, "mdm.end_user_authentication"]);
    expect(await refused({ team_id: 77, lock_end_user_info: true })).toEqual([404, "base"]);

    const on = { enable_managed_local_account: true, end_user_local_account_type: "none" };
    expect((await t.patch("/setup_experience", on)).status).toBe(204);
    const without = { ...on, enable_managed_local_account: false };
    expect(await refused(without), "the type needs it").toEqual(account);
    const config = await t.patch("/config", { mdm: { macos_setup: without } });
    expect(await errorOf(config)).toEqual([422, "mdm.macos_setup.end_user_local_account_type"]);
  });

  it("need the premium tier", async () => {
    const t = await startApp({ engine, tier: "free" });
    expect((await t.patch("/setup_experience", { lock_end_user_info: true })).status).toBe(402);
    expect((await t.post("/managed_local_account", {})).status).toBe(402);
  });
});
