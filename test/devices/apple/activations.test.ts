// Activations that are uploaded with declarations.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { declarativeSession } from "../../support/apple-declarations.ts";
import { appleDevice, newIdentity } from "../../support/apple-device.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { activation, base64, declaration, mobileconfig, profileForm } from "../../support/profiles.ts";

async function start(engine: EngineName) {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}
const CONDITION = { Predicate: "@status(device.model.family) == 'Mac'" };

function upload(t: TestApp, content: string, own: string | null, fileName = "passcode.json") {
  const form = profileForm(content, {}, fileName);
  if (own !== null) form.append("activation", new Blob([own]), "activation.json");
  return t.post("/configuration_profiles", form);
}
const uuidOf = async (response: Response) => ((await response.json()) as { profile_uuid: string }).profile_uuid;
const refusal = async (response: Promise<Response>) => {
  const { errors } = (await (await response).json()) as { errors: { name: string; reason: string }[] };
  return [(await response).status, errors[0]!.name, errors[0]!.reason];
};
const patchJson = (t: TestApp, uuid: string, body: object) =>
  t.request("PATCH", `/configuration_profiles/${uuid}`, body, { "content-type": "application/json" });
const shown = async (t: TestApp, uuid: string) =>
  (await (await t.get(`/configuration_profiles/${uuid}`)).json()) as Record<string, unknown>;

describe.each(bothEngines)("an activation on %s", (engine) => {
  it("takes the place of the one that the server makes, and can be changed and removed", async () => {
    const t = await start(engine);
    const device = appleDevice(t, await newIdentity(t));
    await device.authenticate();
    await device.tokenUpdate();
    const ddm = declarativeSession(device);
    const own = activation("com.example.passcode", CONDITION, "com.example.activation");
    const uuid = await uuidOf(await upload(t, declaration("com.example.passcode"), own));
    const before = await shown(t, uuid);
    expect(before).toMatchObject({ name: "passcode", activation: base64(own) });
    await expect
      .poll(() => ddm.sync())
      .toEqual(["activation/com.example.activation", "configuration/com.example.passcode"]);
    expect(ddm.get("activation/com.example.activation")!.Payload).toEqual({
      StandardConfigurations: ["com.example.passcode"],
      ...CONDITION,
    });

    const other = activation("com.example.passcode", { Predicate: "TRUEPREDICATE" }, "com.example.activation");
    const patched = await patchJson(t, uuid, { activation: base64(other) });
    expect([patched.status, await patched.json()]).toEqual([200, { profile_uuid: uuid }]);
    await expect.poll(() => ddm.sync()).toContain("activation/com.example.activation");
    expect(ddm.get("activation/com.example.activation")!.Payload.Predicate).toBe("TRUEPREDICATE");
    expect((await shown(t, uuid)).checksum, "of the declaration alone").toBe(before.checksum);

    const form = profileForm(declaration("com.example.passcode", { Min: 8 }), {}, "renamed.json");
    expect((await t.patch(`/configuration_profiles/${uuid}`, form)).status).toBe(200);
    expect(await shown(t, uuid), "what is not sent stays").toMatchObject({
      name: "passcode",
      activation: base64(other),
    });
    expect((await patchJson(t, uuid, { activation: "" })).status).toBe(200);
    expect(await shown(t, uuid)).not.toHaveProperty("activation");
    await expect.poll(() => ddm.sync()).toContain(`activation/svc.activation.${uuid}`);
    expect(ddm.names()).toEqual([`activation/svc.activation.${uuid}`, "configuration/com.example.passcode"]);
    expect(ddm.get("configuration/com.example.passcode")!.Payload).toEqual({ Min: 8 });
  });
});

describe.each(rulesEngines)("activations on %s", (engine) => {
  it("come with the profiles of a batch, which without them has none", async () => {
    const t = await start(engine);
    const own = base64(activation("com.example.a"));
    const item = { profile: base64(declaration("com.example.a")), display_name: "A" };
    const batch = (...items: object[]) => t.post("/configuration_profiles/batch", { configuration_profiles: items });
    const profiles = async () =>
      ((await (await t.get("/configuration_profiles")).json()) as { profiles: object[] }).profiles;
    expect((await batch({ ...item, activation: own })).status).toBe(204);
    expect(await profiles()).toMatchObject([{ name: "A", activation: own }]);
    expect((await batch(item)).status).toBe(204);
    expect((await profiles())[0]).not.toHaveProperty("activation");
    const same = { profile: base64(declaration("com.example.b")), display_name: "B" };
    const twice = batch(
      { ...item, activation: base64(activation("com.example.a", {}, "com.example.one")) },
      { ...same, activation: base64(activation("com.example.b", {}, "com.example.one")) },
    );
    expect(await refusal(twice)).toEqual([
      422,
      "configuration_profiles.1.activation",
      'the identifier "com.example.one" occurs more than once in the list',
    ]);
    expect((await batch({ ...item, activation: "not base64!" })).status).toBe(422);
  });

  it("are refused with the reason", async () => {
    const t = await start(engine);
    const content = declaration("com.example.a");
    const refusals: [string, string][] = [
      ["{", "not valid JSON"],
      [declaration("com.example.x"), "begin with com.apple.activation."],
      [activation("com.example.b"), "have to be the declaration's identifier"],
      [activation("com.example.a", {}, "svc.activation.mine"), "reserved for the server"],
      [activation("com.example.a", { Predicate: "$SVC_VAR_HOST_UUID" }), "variables"],
    ];
    for (const [own, reason] of refusals)
      expect(await refusal(upload(t, content, own)), own).toEqual([422, "activation", expect.stringContaining(reason)]);
    expect((await upload(t, content, activation("com.example.a").padEnd(64 * 1024 + 1))).status).toBe(413);
    const file = upload(t, mobileconfig("com.example.file"), activation("com.example.file"), "file.mobileconfig");
    expect(await refusal(file)).toEqual([422, "activation", "only declarations have activations"]);

    expect((await upload(t, content, activation("com.example.a", {}, "com.example.one"))).status).toBe(200);
    const taken = upload(t, declaration("com.example.b"), activation("com.example.b", {}, "com.example.one"), "b.json");
    expect((await taken).status).toBe(409);
  });

  it("and profiles can be replaced by JSON too", async () => {
    const t = await start(engine);
    const uuid = await uuidOf(await upload(t, declaration("com.example.a"), null));
    const patch = (body: object) => patchJson(t, uuid, body);
    const replaced = declaration("com.example.a", { Min: 9 });
    expect((await patch({ profile: base64(replaced) })).status).toBe(200);
    expect(await (await t.get(`/configuration_profiles/${uuid}?alt=media`)).text()).toBe(replaced);
    expect((await patch({ labels_include_any: ["no such label"] })).status).toBe(400);
    for (const body of [{ profile: "%" }, { profile: 7 }, { profile: null }, []])
      expect((await patch(body)).status, JSON.stringify(body)).toBe(400);
    expect((await patch({ profile: base64(declaration("com.example.b")) })).status).toBe(422);
    expect((await patch({ profile: base64("x".repeat(1.6 * 1024 * 1024)) })).status).toBe(413);
  });
});
