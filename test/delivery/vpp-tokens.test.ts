// Tokens of the license program: what the license service says of them, and the teams whose apps they license.
import { beforeEach, describe, expect, it } from "vitest";
import type { VppToken } from "../../src/api/delivery/vpp.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { type LicenseService, licenseError, startLicenseService, tokenForm } from "../support/license-service.ts";
import { makeTeam } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";

/** The types of the latest activities, the newest first. */
async function recorded(t: TestApp): Promise<string[]> {
  const reply = await t.get("/activities?order_key=id&order_direction=desc");
  const { activities } = (await reply.json()) as { activities: { type: string }[] };
  return activities.map(({ type }) => type);
}

describe.each(bothEngines)("tokens of the license program on %s", (engine) => {
  let service: LicenseService;
  let t: TestApp;
  beforeEach(async () => {
    service = await startLicenseService();
    t = await startApp({ engine, settings: service.settings });
  });

  const add = (more = {}) => t.post("/vpp_tokens", tokenForm(service.tokenFile(more)));
  const added = async (): Promise<VppToken> => ((await (await add()).json()) as { vpp_token: VppToken }).vpp_token;
  const list = async () => ((await (await t.get("/vpp_tokens")).json()) as { vpp_tokens: VppToken[] }).vpp_tokens;
  /** What is stored of the location's licenses, by app id. */
  const stored = async () => {
    const rows = await t.store.vppAssets.list({ order: [{ column: "adam_id", direction: "asc" }] });
    return rows.map(({ adam_id, platforms, available_count }) => [adam_id, platforms.join(), available_count]);
  };

  it("shows whose token it is, and reads all pages of what it licenses", async () => {
    expect(await added()).toEqual({
      id: 1,
      org_name: "Example Ltd",
      location: "Main Street",
      country_code: "US",
      renew_date: "2027-03-01T00:00:00.000Z",
      terms_expired: false,
      teams: null,
    });
    expect(await stored()).toEqual([
      ["310633997", "ios,ipados", 10],
      ["361309726", "darwin,ios,ipados", 10],
      ["497799835", "darwin", 10],
    ]);
    const listings = await t.store.storeListings.list({ where: { op: "eq", column: "adam_id", value: "310633997" } });
    expect(listings).toMatchObject([
      { platform: "ios", name: "Messenger", version: "26.2", icon_url: "https://icons.example.com/messenger.png" },
    ]);
    expect((await recorded(t))[0]).toBe("enabled_vpp");
    // The token itself is never shown.
    expect(JSON.stringify(await list())).not.toContain(service.token);
  });

  it.each([
    ["an expired token", { expDate: "2026-02-28T00:00:00+0000" }, "the token has expired"],
    ["a token without a date", { expDate: "soon" }, "the token has no date on which it expires"],
  ])("refuses %s", async (_, more, reason) => {
    const reply = await add(more);
    expect(reply.status).toBe(422);
    expect(await reasonOf(reply)).toBe(reason);
  });

  it("refuses files that are no tokens, and tokens that the service refuses", async () => {
    for (const content of ["no token!", Buffer.from("[]").toString("base64"), Buffer.from("x").toString("base64")])
      expect((await t.post("/vpp_tokens", tokenForm(content))).status).toBe(422);
    const file = service.tokenFile();
    service.token = "another";
    const reply = await t.post("/vpp_tokens", tokenForm(file));
    expect(reply.status).toBe(422);
    expect(await reasonOf(reply)).toContain("the license service refuses the token");
    expect(await list()).toEqual([]);
  });

  it("refuses a second token of one location, and renews the first one", async () => {
    const { id } = await added();
    expect((await add()).status).toBe(409);
    service.assets.pop();
    const renewed = await t.patch(
      `/vpp_tokens/${id}/renew`,
      tokenForm(service.tokenFile({ expDate: "2028-01-01T00:00:00+0100" })),
    );
    expect(((await renewed.json()) as { vpp_token: VppToken }).vpp_token.renew_date).toBe("2027-12-31T23:00:00.000Z");
    expect(await stored()).toHaveLength(2);
    service.account = { ...service.account, uId: "library-2" };
    expect((await t.patch(`/vpp_tokens/${id}/renew`, tokenForm(service.tokenFile()))).status).toBe(422);
    expect((await recorded(t)).slice(0, 2)).toEqual(["renewed_vpp", "enabled_vpp"]);
  });

  it("licenses the apps of some teams, of all, or of none", async () => {
    const { id } = await added();
    const team = await makeTeam(t, "Macs");
    const setTeams = async (body: object) => {
      const reply = await t.patch(`/vpp_tokens/${id}/teams`, body);
      return ((await reply.json()) as { vpp_token: VppToken }).vpp_token.teams;
    };
    expect(await setTeams({ team_ids: [team.id, 0] })).toEqual([
      { team_id: team.id, name: "Macs" },
      { team_id: 0, name: "No team" },
    ]);
    expect(await setTeams({})).toEqual([]);
    expect(await setTeams({ team_ids: [] })).toBeNull();
    expect((await t.patch(`/vpp_tokens/${id}/teams`, { team_ids: [999] })).status).toBe(404);
    expect((await recorded(t))[0]).toBe("edited_vpp_teams");
  });

  it("gives a team no second token", async () => {
    const { id } = await added();
    service.account = { ...service.account, uId: "library-2", locationName: "Harbour" };
    const { id: second } = await added();
    const team = await makeTeam(t, "Macs");
    await t.patch(`/vpp_tokens/${id}/teams`, { team_ids: [team.id] });
    const clash = await t.patch(`/vpp_tokens/${second}/teams`, { team_ids: [0, team.id] });
    expect(clash.status).toBe(409);
    expect(await reasonOf(clash)).toBe("Macs has the token of Main Street already");
    expect((await t.patch(`/vpp_tokens/${second}/teams`, {})).status).toBe(409);
    expect((await t.patch(`/vpp_tokens/${second}/teams`, { team_ids: [0] })).status).toBe(200);
    await t.delete(`/teams/${team.id}`);
    expect((await list()).map(({ teams }) => teams)).toEqual([null, [{ team_id: 0, name: "No team" }]]);
  });

  it("deletes a token, by its id or as the only one", async () => {
    const { id } = await added();
    expect((await t.delete(`/vpp_tokens/${id}`)).status).toBe(204);
    expect(await stored()).toEqual([]);
    expect((await recorded(t))[0]).toBe("disabled_vpp");
    expect((await t.delete("/mdm/vendora/vpp_token")).status).toBe(404);
    expect((await t.post("/mdm/vendora/vpp_token", tokenForm(service.tokenFile()))).status).toBe(200);
    expect((await t.delete("/mdm/vendora/vpp_token")).status).toBe(204);
    expect(await list()).toEqual([]);
  });

  it("follows changes of what is licensed", async () => {
    await added();
    service.assets = [
      { adamId: "310633997", totalCount: 3, supportedPlatforms: ["iOS"] },
      { adamId: "1", productType: "Book" },
    ];
    service.account = { ...service.account, locationName: "Main Street 2" };
    service.store.software[1]!.version = "27.0";
    await runJob(t.services, "vpp_sync");
    expect(await stored()).toEqual([["310633997", "ios,ipados", 3]]);
    expect((await list())[0]!.location).toBe("Main Street 2");
    expect(
      await t.store.storeListings.pick(["version"], { where: { op: "eq", column: "adam_id", value: "310633997" } }),
    ).toEqual([{ version: "27.0" }]);
  });

  it.each([
    ["a token that has expired", 9621, 401, { token_invalid: true, terms_expired: false }],
    ["a token that was revoked, reported with status 200", 9625, 200, { token_invalid: true, terms_expired: false }],
    ["too many failing requests", 9632, 400, { token_invalid: false, terms_expired: false }],
    ["too many requests", 9646, 503, { token_invalid: false, terms_expired: false }],
  ])("keeps what it knows after %s", async (_, number, status, flags) => {
    await added();
    service.fault = (path) => (path.endsWith("/assets") ? licenseError(number, status, { "retry-after": "30" }) : null);
    await runJob(t.services, "vpp_sync");
    expect(await stored()).toHaveLength(3);
    expect(await t.store.vppTokens.list()).toMatchObject([
      { ...flags, sync_error: expect.stringContaining("the license service") },
    ]);
    service.fault = () => null;
    await runJob(t.services, "vpp_sync");
    expect(await t.store.vppTokens.list()).toMatchObject([{ token_invalid: false, sync_error: "" }]);
  });

  it("accepts a token while the store cannot be reached, and looks its apps up later", async () => {
    service.fault = (path) => (path === "/lookup" ? { status: 500 } : null);
    await added();
    expect(await t.store.storeListings.count()).toBe(0);
    service.fault = () => null;
    await runJob(t.services, "vpp_sync");
    expect(await t.store.storeListings.count()).toBe(5);
  });
});
