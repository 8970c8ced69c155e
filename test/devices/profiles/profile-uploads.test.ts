// Uploads of configuration profiles as files: plain, signed and binary property lists, and changes of profiles.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../../../src/pki/issue.ts";
import { parseName } from "../../../src/pki/names.ts";
import { signData } from "../../../src/pki/signed-data.ts";
import { newKey } from "../../../src/pki/x509.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeLabel, makeTeam } from "../../support/make.ts";
import { declaration, mobileconfig, payload, profileForm } from "../../support/profiles.ts";
import { haveProgram } from "../../support/tools.ts";

type Json = Record<string, unknown>;
const json = async (res: Response | Promise<Response>) => (await (await res).json()) as Json;
const hasPlistutil = haveProgram("plistutil", "libplist-utils");

async function start(engine: "lowdb" | "postgres") {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}
const upload = (t: TestApp, content: string | Uint8Array<ArrayBuffer>, fields = {}, fileName = "file.mobileconfig") =>
  t.post("/configuration_profiles", profileForm(content, fields, fileName));

function binary(text: string): Uint8Array<ArrayBuffer> {
  const dir = mkdtempSync(join(tmpdir(), "svc-plist-"));
  writeFileSync(join(dir, "a.plist"), text);
  execFileSync("plistutil", ["-i", join(dir, "a.plist"), "-o", join(dir, "b.plist"), "-f", "bin"]);
  return new Uint8Array(readFileSync(join(dir, "b.plist")));
}

async function signed(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await newKey();
  const certificate = selfSigned(
    parseName("/CN=signer"),
    key,
    Buffer.from([1]),
    Date.parse("2026-03-01T12:00:00.000Z"),
  );
  return new Uint8Array(signData(Buffer.from(text), { certificate, key, digest: "sha256" }));
}

describe.each(rulesEngines)("uploads of profiles on %s", (engine) => {
  it("take plain and signed property lists, and declarations, and give them back byte for byte", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const plain = mobileconfig("com.example.wifi", payload("com.apple.wifi.managed"), "Wi-Fi");
    const sent: [string, string | Uint8Array<ArrayBuffer>, string][] = [
      ["Wi-Fi", plain, "x.mobileconfig"],
      ["VPN", await signed(mobileconfig("com.example.vpn", payload("com.apple.vpn.managed"), "VPN")), "y.mobileconfig"],
      ["Passcode rules", declaration("com.example.passcode"), "Passcode rules.json"],
    ];
    for (const [name, content, fileName] of sent) {
      const res = await upload(t, content, { team_id: String(team.id) }, fileName);
      expect(res.status).toBe(200);
      const { profile_uuid } = (await res.json()) as { profile_uuid: string };
      expect(profile_uuid[0]).toBe(fileName.endsWith(".json") ? "d" : "a");
      expect(await json(t.get(`/configuration_profiles/${profile_uuid}`))).toMatchObject({ name, team_id: team.id });
      const file = await t.get(`/configuration_profiles/${profile_uuid}?alt=media`);
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(content as string))).toBe(true);
    }
    const { activities } = (await json(t.get("/activities"))) as { activities: { type: string; details: Json }[] };
    const created = activities.filter(({ type }) => type === "created_macos_profile").map(({ details }) => details);
    expect(created).toContainEqual({
      profile_name: "VPN",
      profile_identifier: "com.example.vpn",
      team_id: team.id,
      team_name: team.name,
    });
    expect(created.length).toBe(2);
  });

  it.runIf(hasPlistutil)("take binary property lists", async () => {
    const t = await start(engine);
    expect((await upload(t, binary(mobileconfig("com.example.binary")))).status).toBe(200);
    const res = await upload(t, binary(mobileconfig("com.example.other", "<string>$SVC_VAR_HOST_UUID</string>")));
    expect([res.status, await res.text()]).toEqual([422, expect.stringContaining("plain XML profiles only")]);
  });

  it.each([
    ["com.apple.mdm", "", "enroll the device elsewhere"],
    ["com.apple.MCX.FileVault2", "", "disk encryption"],
    ["com.apple.security.FDERecoveryKeyEscrow", "", "disk encryption"],
    ["com.apple.security.FDERecoveryRedirect", "", "disk encryption"],
    ["com.apple.MCX", "<key>dontAllowFDEDisable</key><true/>", "FileVault keys"],
    ["com.apple.MDM", "", "enroll the device elsewhere"],
    [" com.apple.mdm\t", "", "enroll the device elsewhere"],
    ["com.apple\u200b.mdm", "", "enroll the device elsewhere"],
    ["COM.apple.mcx.filevault2 ", "", "disk encryption"],
    ["com.apple.mcx", "<key>dontallowFDEenable</key><true/>", "FileVault keys"],
  ])("refuse payloads of the type %s", async (type, more, reason) => {
    const t = await start(engine);
    const res = await upload(t, mobileconfig("a", payload(type, more)));
    expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(reason)]);
  });

  it("take property lists in UTF-16, whose rules are the same, and give them back byte for byte", async () => {
    const t = await start(engine);
    const utf16 = (text: string, mark = "\uFEFF", isBig = false) => {
      const bytes = Buffer.from(mark + text.replace('encoding="UTF-8"', 'encoding="UTF-16"'), "utf16le");
      return new Uint8Array(isBig ? bytes.swap16() : bytes);
    };
    const plain = (id: string, type = "com.apple.wifi.managed") => mobileconfig(id, payload(type), `Grüße ${id}`);
    const files = [utf16(plain("a")), utf16(plain("b"), "\uFEFF", true), utf16(plain("c"), "")];
    for (const [i, content] of files.entries()) {
      const res = await upload(t, content);
      expect(res.status, await res.clone().text()).toBe(200);
      const { profile_uuid } = (await res.json()) as { profile_uuid: string };
      const stored = await t.get(`/configuration_profiles/${profile_uuid}?alt=media`);
      expect(new Uint8Array(await stored.arrayBuffer())).toEqual(content);
      expect(await json(t.get(`/configuration_profiles/${profile_uuid}`))).toMatchObject({ name: `Grüße ${"abc"[i]}` });
    }
    for (const [content, reason] of [
      [utf16(plain("d", "com.apple.mdm")), "enroll the device elsewhere"],
      [utf16(plain("d", "$SVC_SECRET_X")), "only, in UTF-8"],
      [utf16(plain("d")).slice(0, 301), "cannot be read"],
      [new Uint8Array([0xff, 0xfe, 0x00, 0xd8, 0x00, 0xd8, 0x3c, 0x00]), "known format"],
    ] as const) {
      const res = await upload(t, content);
      expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(reason)]);
    }
  });

  it("refuse what is not a profile, with the reason", async () => {
    const t = await start(engine);
    const whole = mobileconfig("com.example.a");
    const without = (key: string) => whole.replace(new RegExp(`<key>${key}</key><string>[^<]*</string>`), "");
    const nested = `${"<array>".repeat(70)}${"</array>".repeat(70)}`;
    for (const [content, reason] of [
      [without("PayloadIdentifier"), "no PayloadIdentifier"],
      [without("PayloadDisplayName"), "no PayloadDisplayName"],
      [without("PayloadType"), "has to be Configuration"],
      [whole.replace("</plist>", ""), "cannot be read"],
      [whole.replace("<!DOCTYPE plist", '<!DOCTYPE plist [<!ENTITY a "b">]><!DOCTYPE plist'), "cannot be read"],
      [mobileconfig("a", nested), "cannot be read"],
      [mobileconfig("com.svc.own"), "reserved"],
      [mobileconfig(" com.\u200bSVC.own"), "reserved"],
      [mobileconfig("a", "<string>x</string>"), "has to be a dictionary"],
      [mobileconfig("a", payload("").replace("<key>PayloadType</key><string></string>", "")), "no PayloadType"],
      [new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x01]), "signed data cannot be read"],
      [
        await signed(mobileconfig("a", payload("x", "<key>Host</key><string>$SVC_VAR_HOST_UUID</string>"))),
        "plain XML",
      ],
    ] as const) {
      const res = await upload(t, content);
      expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(reason)]);
    }
    for (const [content, name] of [
      [whole, "a.json"],
      [whole, "a.xml"],
      [whole, "a.txt"],
      [declaration("b"), "b.mobileconfig"],
    ] as const) {
      const res = await t.post("/configuration_profiles", profileForm(content, {}, name));
      expect([res.status, await res.text()]).toEqual([422, expect.stringContaining(`the file is called ${name}`)]);
    }
    expect((await t.post("/configuration_profiles", profileForm(null, {}))).status).toBe(400);
    expect((await upload(t, "x".repeat(1_600_000))).status).toBe(413);
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("say how the keys of a declaration are spelled, which is no profile for Android in other letters", async () => {
    const t = await start(engine);
    const Type = "com.apple.configuration.passcode.settings";
    for (const [content, key, meant] of [
      [{ type: Type, identifier: "a", payload: {} }, "type", "Type"],
      [{ Type, identifier: "a", Payload: {} }, "identifier", "Identifier"],
      [{ Type, Identifier: "a", payload: {} }, "payload", "Payload"],
      [{ TYPE: Type, IDENTIFIER: "a", PAYLOAD: {} }, "TYPE", "Type"],
    ] as const) {
      const res = await upload(t, JSON.stringify(content), {}, "passcode.json");
      const text = await res.text();
      expect([res.status, text]).toEqual([422, expect.stringContaining(`no key \\"${key}\\": write ${meant}`)]);
      expect(text).not.toContain("Android");
    }
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("answer 409 to a name or an identifier that the team has, but not to that of another team", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    expect((await upload(t, mobileconfig("one", "", "One"))).status).toBe(200);
    const name = await upload(t, mobileconfig("two", "", "One"));
    expect([name.status, await name.text()]).toEqual([409, expect.stringContaining('the name \\"One\\"')]);
    const identifier = await upload(t, mobileconfig("one", "", "Two"));
    expect([identifier.status, await identifier.text()]).toEqual([
      409,
      expect.stringContaining('identifier \\"one\\"'),
    ]);
    expect((await upload(t, mobileconfig("one", "", "One"), { team_id: String(team.id) })).status).toBe(200);
  });

  it("replace the file of a profile with the same identifier, rename it, and change its labels", async () => {
    const t = await start(engine);
    await makeLabel(t, "one");
    const { profile_uuid: uuid } = await json(upload(t, mobileconfig("a", "", "First"), { labels_include_any: "one" }));
    await upload(t, mobileconfig("b", "", "Other"));
    const change = (content: string | null, fields = {}) =>
      t.patch(`/configuration_profiles/${uuid}`, profileForm(content, fields, "file.mobileconfig"));
    t.clock.advance(1000);
    expect(await json(change(mobileconfig("a", payload("x"), "Second")))).toEqual({ profile_uuid: uuid });
    expect(await json(t.get(`/mdm/profiles/${uuid}`))).toMatchObject({
      name: "Second",
      uploaded_at: t.clock.iso(),
      labels_include_any: [{ name: "one" }],
    });
    await change(null, { labels_exclude_any: "one" });
    const changed = await json(t.get(`/mdm/profiles/${uuid}`));
    expect(changed).toMatchObject({ labels_exclude_any: [{ name: "one" }] });
    expect(changed).not.toHaveProperty("labels_include_any");
    expect((await change(mobileconfig("c", "", "Third"))).status).toBe(422);
    expect((await change(declaration("a"))).status).toBe(422);
    expect((await change(mobileconfig("a", payload("x"), "Other"))).status).toBe(409);
    const { activities } = (await (await t.get("/activities")).json()) as { activities: { type: string }[] };
    expect(activities.filter(({ type }) => type === "edited_macos_profile")).toHaveLength(2);
  });
});
