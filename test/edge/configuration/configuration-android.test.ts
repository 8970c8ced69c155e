// Android in POST /spec/state and /spec/apply: profiles, and certificate templates with their authorities.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type AndroidService, startAndroid, turnAndroidOn } from "../../support/android.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { applied, change, find, refused, secret, stateOf, textsOf, thingValue } from "../../support/configuration.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const KIND = "certificate_template";
const CA = "custom_scep_proxy/WIFI";
const authority = { name: "WIFI", url: "https://scep.example.com/scep", challenge: secret("ca challenge") };
const template = (subject_name: string, certificate_authority_name = "WIFI") => ({
  certificate_authority_name,
  subject_name,
});

describe.each(bothEngines)("Android in an apply on %s", (engine) => {
  let t: TestApp;
  let service: AndroidService;
  beforeEach(async () => {
    service = await startAndroid();
    t = await startApp({ engine, settings: service.settings });
    service.now = () => new Date(t.clock.now());
  });
  const types = async () => (await t.store.activities.list()).map(({ type }) => type);
  const withCa = (...changes: ReturnType<typeof change>[]) =>
    applied(t, {
      changes: [change("create", "certificate_authority", CA, authority), ...changes],
      secrets: textsOf("ca challenge"),
    });

  it("has certificate templates, whose authority may come with them and go with them", async () => {
    expect(
      await withCa(
        change("create", "team", "Phones", { description: "" }),
        change("create", KIND, "VPN", template("/CN=$SVC_VAR_HOST_UUID")),
        change("create", KIND, "VPN", template("/CN=phone"), "Phones"),
      ),
    ).toEqual({ create: 4, update: 0, delete: 0 });
    expect(thingValue(await stateOf(t), KIND, "VPN")).toEqual(template("/CN=$SVC_VAR_HOST_UUID"));
    const changed = [change("update", KIND, "VPN", template("/CN=other"), "Phones")];
    expect(await applied(t, { changes: changed })).toEqual({ create: 0, update: 1, delete: 0 });
    expect(await applied(t, { changes: changed }), "nothing differs").toEqual({ create: 0, update: 0, delete: 0 });
    const gone = [
      change("delete", KIND, "VPN"),
      change("delete", KIND, "VPN", undefined, "Phones"),
      change("delete", "team", "Phones"),
      change("delete", "certificate_authority", CA),
    ];
    expect(await applied(t, { changes: gone })).toEqual({ create: 0, update: 0, delete: 4 });
    expect(await t.store.certificateTemplates.count()).toBe(0);
    expect(await types()).toEqual(
      expect.arrayContaining([
        "created_certificate_template",
        "edited_certificate_template",
        "deleted_certificate_template",
      ]),
    );
  });

  it("refuses templates that break a rule, and names the change; nothing is written", async () => {
    await withCa(change("create", KIND, "A", template("/CN=a")));
    const cases: [ReturnType<typeof change>, number, string, string][] = [
      [
        change("create", KIND, "B", template("/CN=b", "None")),
        422,
        "certificate_authority_name",
        "no certificate authority",
      ],
      [change("create", KIND, "B", template("/CN=$SVC_VAR_NONE")), 400, "subject_name", "cannot be used here"],
      [change("create", KIND, "B", template("words")), 422, "subject_name", ""],
      [change("create", KIND, "B", { ...template("/CN=b"), more: 1 }), 422, "more", ""],
    ];
    for (const [wrong, status, field, reason] of cases) {
      const [error] = await refused(t, status, { changes: [change("delete", KIND, "A"), wrong] });
      expect([error!.name, error!.reason]).toEqual([expect.stringContaining(field), expect.stringContaining(reason)]);
    }
    expect((await t.store.certificateTemplates.list()).map(({ name }) => name)).toEqual(["A"]);
  });

  it("shows and lets users change only templates of their teams", async () => {
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    await withCa(
      change("create", KIND, "A", template("/CN=a"), own.name),
      change("create", KIND, "B", template("/CN=b"), other.name),
    );
    const person = await makeUser(t, { teams: [{ id: own.id, role: "gitops" }] }, { api_only: true });
    const seen = (await stateOf(person)).things.filter(({ kind }) => kind === KIND);
    expect(seen.map(({ name }) => name)).toEqual(["A"]);
    expect(
      await applied(person, { changes: [change("update", KIND, "A", template("/CN=x"), own.name)] }),
    ).toMatchObject({
      update: 1,
    });
    for (const owner of [other.name, null]) {
      const reply = await person.post("/spec/apply", {
        changes: [change("create", KIND, "C", template("/CN=c"), owner)],
      });
      expect([403, 404, 422], String(owner)).toContain(reply.status);
    }
    const observer = await makeUser(t, "observer");
    expect((await observer.post("/spec/state", {})).status).toBe(403);
    expect(await t.store.certificateTemplates.count()).toBe(2);
  });

  it("has profiles, while device management of Android is turned on", async () => {
    const content = '{"cameraDisabled": true}';
    const sha256 = createHash("sha256").update(content).digest("hex");
    const files = { [sha256]: Buffer.from(content).toString("base64") };
    const changes = [change("create", "configuration_profile", "camera", { platform: "android", sha256 })];
    const [off] = await refused(t, 400, { changes, files });
    expect(off!.reason).toContain("device management is not turned on");
    await turnAndroidOn(t, service);
    expect(await applied(t, { changes, files })).toEqual({ create: 1, update: 0, delete: 0 });
    expect(find(await stateOf(t), { kind: "configuration_profile", owner: null, name: "camera" })!.value).toMatchObject(
      {
        platform: "android",
        sha256,
      },
    );
    expect(await types()).toContain("edited_android_profile");
    const gone = [change("delete", "configuration_profile", "camera")];
    expect(await applied(t, { changes: gone })).toEqual({ create: 0, update: 0, delete: 1 });
  });
});
