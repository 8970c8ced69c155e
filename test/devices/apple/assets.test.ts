// Asset declarations: uploads, and how devices get them with the declarations that refer to them.
import { describe, expect, it } from "vitest";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { declarativeSession } from "../../support/apple-declarations.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";
import { asset, assetForm, declaration, makeProfile } from "../../support/profiles.ts";
import { reasonOf } from "../../support/replies.ts";

async function start(engine: EngineName) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}
const upload = (t: Pick<TestApp, "post">, content: string, fields = {}, name?: string) =>
  t.post("/assets", assetForm(content, fields, name));
const uuidOf = async (response: Response) => ((await response.json()) as { asset_uuid: string }).asset_uuid;
const referring = declaration("com.example.mail", { Accounts: [{ CredentialsAssetReference: "com.example.secret" }] });

describe.each(bothEngines)("an asset on %s", (engine) => {
  it("goes to the devices that have a declaration which refers to it", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const device = appleDevice(t, await newIdentity(t));
    await device.authenticate();
    await device.tokenUpdate();
    const ddm = declarativeSession(device);
    const first = await uuidOf(await upload(t, asset("com.example.secret", { UserName: "ana" })));
    await upload(t, asset("com.example.other"));
    await upload(t, asset("com.example.secret", { UserName: "of the team" }), { team_id: String(team.id) });
    expect(await ddm.sync()).toEqual([]);
    const profile = await makeProfile(t, { name: "Mail", content: referring });
    await expect.poll(() => ddm.sync()).toContain("asset/com.example.secret");
    expect(ddm.get("asset/com.example.secret")).toMatchObject({
      Type: "com.apple.asset.credential.userpassword",
      Payload: { UserName: "ana" },
    });
    expect(ddm.names().filter((name) => name.startsWith("asset/"))).toEqual(["asset/com.example.secret"]);

    const refused = await t.delete(`/assets/${first}`);
    expect([refused.status, await reasonOf(refused)]).toEqual([
      409,
      'the profile "Mail" refers to the asset: delete or change it first',
    ]);
    await t.delete(`/mdm/profiles/${profile}`);
    expect((await t.delete(`/assets/${first}`)).status).toBe(204);
    const names = async () => {
      await ddm.sync();
      return ddm.names();
    };
    await expect.poll(names).toEqual([]);

    await makeProfile(t, { name: "Mail again", content: referring });
    const status = async () => (await t.store.hostProfiles.first({ where: eq("name", "Mail again") }))?.status;
    await expect.poll(status).toBe("pending");
    await ddm.sync();
    await ddm.report();
    expect(await status()).toBe("verified");
    await upload(t, asset("com.example.secret", { UserName: "new" }));
    await expect.poll(status).toBe("pending");
    await ddm.sync();
    expect(ddm.get("asset/com.example.secret")!.Payload).toEqual({ UserName: "new" });
  });
});

describe.each(rulesEngines)("assets on %s", (engine) => {
  it("are listed by team, shown, and downloaded as they were uploaded", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const content = asset("com.example.secret");
    const uuid = await uuidOf(await upload(t, content, { team_id: String(team.id) }, "secret.json"));
    await upload(t, asset("com.example.elsewhere"));
    const shown = (await (await t.get(`/assets/${uuid}`)).json()) as Record<string, unknown>;
    expect(shown).toMatchObject({ asset_uuid: uuid, asset: "secret.json", team_id: team.id });
    expect(shown.checksum).toMatch(/^[0-9a-f]{64}$/);
    const { team_id: _, ...listed } = shown;
    expect(await (await t.get(`/assets?team_id=${team.id}`)).json()).toEqual({ assets: [listed] });
    const file = await t.get(`/assets/${uuid}?alt=media`);
    expect(await file.text()).toBe(content);
    expect(file.headers.get("content-disposition")).toContain("secret.json");
  });

  it("are refused with the reason", async () => {
    const t = await start(engine);
    const deep = JSON.parse(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`) as object;
    const refusals: [string, string][] = [
      ["{", "not valid JSON"],
      ["[]", "JSON object"],
      [declaration("com.example.a"), "begin with com.apple.asset."],
      [asset(""), "no Identifier"],
      [asset("x".repeat(256)), "more than 255 characters"],
      [asset("svc.mine"), "reserved"],
      ['{"Type":"com.apple.asset.data","Identifier":"a"}', "no Payload"],
      [asset("com.example.a", deep), "inside each other"],
      [asset("com.example.a", { Name: "$SVC_VAR_HOST_UUID" }), "variables"],
    ];
    for (const [content, reason] of refusals) {
      const response = await upload(t, content);
      expect([response.status, await reasonOf(response)], content.slice(0, 60)).toEqual([
        422,
        expect.stringContaining(reason),
      ]);
    }
    expect((await upload(t, asset("com.example.a"))).status).toBe(200);
    expect((await upload(t, asset("com.example.a"))).status).toBe(409);
    expect((await upload(t, asset("com.example.b"), { team_id: "77" })).status).toBe(404);
    expect((await t.get("/assets/none")).status).toBe(404);
    expect((await t.delete("/assets/none")).status).toBe(404);
  });

  it("are seen and changed by the roles that see and change profiles of the team", async () => {
    const t = await start(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const uuid = await uuidOf(await upload(t, asset("com.example.a"), { team_id: String(team.id) }));
    const observer = await makeUser(t, "observer");
    const foreign = await makeUser(t, { teams: [{ id: other.id, role: "maintainer" }] });
    const own = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    for (const method of ["GET", "DELETE"]) {
      expect((await observer.request(method, `/assets/${uuid}`)).status).toBe(403);
      expect((await foreign.request(method, `/assets/${uuid}`)).status).toBe(404);
    }
    expect((await own.get(`/assets/${uuid}`)).status).toBe(200);
    expect((await own.delete(`/assets/${uuid}`)).status).toBe(204);
  });
});

it("teams of assets are premium, and assets need device management", async () => {
  const t = await startApp({ tier: "free" });
  expect((await upload(t, asset())).status).toBe(400);
  await turnOnAppleMdm(t);
  expect((await upload(t, asset(), { team_id: "1" })).status).toBe(402);
  expect((await upload(t, asset())).status).toBe(200);
});
