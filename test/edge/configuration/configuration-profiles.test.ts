// Configuration profiles in POST /spec/state and /spec/apply: contents by digest, labels, names, and refusals.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { applied, change, label, refused, stateOf, thingValue } from "../../support/configuration.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeUser } from "../../support/make.ts";
import { activation, asset, base64, declaration, mobileconfig } from "../../support/profiles.ts";

const KIND = "configuration_profile";
const digest = (content: string) => createHash("sha256").update(content).digest("hex");
const profile = (content: string, more: object = {}) => ({
  platform: "darwin",
  sha256: digest(content),
  activation_sha256: null,
  ...more,
});
const filesOf = (...contents: string[]) =>
  Object.fromEntries(contents.map((content) => [digest(content), base64(content)]));

async function start(engine: "lowdb" | "postgres"): Promise<TestApp> {
  const t = await startApp({ engine });
  await turnOnAppleMdm(t);
  return t;
}

describe.each(bothEngines)("profiles of an apply on %s", (engine) => {
  it("come with the team, and are replaced, relabeled and deleted; the content is sent only when it changes", async () => {
    const t = await start(engine);
    const [wifi, vpn] = [mobileconfig("com.example.wifi", "", "Wi-Fi"), mobileconfig("com.example.vpn", "", "VPN")];
    const changes = [
      change("create", "team", "Ops", { description: "" }),
      change("create", "label", "L", label()),
      change("create", KIND, "Wi-Fi", profile(wifi, { labels_include_any: ["L"] }), "Ops"),
      change("create", KIND, "Wi-Fi", profile(wifi)),
      change("create", KIND, "VPN", profile(vpn)),
    ];
    expect(await applied(t, { changes, files: filesOf(wifi, vpn) })).toEqual({ create: 5, update: 0, delete: 0 });
    const state = await stateOf(t, { files: true });
    expect(state.files).toEqual(filesOf(wifi, vpn));
    expect(thingValue(state, KIND, "Wi-Fi", "Ops")).toEqual({
      ...profile(wifi),
      labels_include_all: [],
      labels_include_any: ["L"],
      labels_exclude_any: [],
    });
    expect((await stateOf(t)).files).toBeUndefined();

    const newer = mobileconfig("com.example.vpn", "<dict><key>PayloadType</key><string>x</string></dict>", "VPN");
    const second = [
      change("update", KIND, "Wi-Fi", profile(wifi, { labels_exclude_any: ["L"] }), "Ops"),
      change("update", KIND, "Wi-Fi", profile(wifi)),
      change("update", KIND, "VPN", profile(newer)),
    ];
    expect(await applied(t, { changes: second, files: filesOf(newer) })).toEqual({ create: 0, update: 2, delete: 0 });
    expect(thingValue(await stateOf(t), KIND, "VPN")).toMatchObject(profile(newer));

    const third = [
      change("delete", KIND, "VPN"),
      change("delete", "team", "Ops"),
      change("delete", KIND, "Wi-Fi", undefined, "Ops"),
    ];
    expect(await applied(t, { changes: third })).toEqual({ create: 0, update: 0, delete: 3 });
    expect((await t.store.configurationProfiles.list()).map(({ name }) => name)).toEqual(["Wi-Fi"]);
  });
});

describe.each(rulesEngines)("profiles of an apply on %s", (engine) => {
  it("may exchange their names and their identifiers", async () => {
    const t = await start(engine);
    const make = (identifier: string, name: string) => mobileconfig(`com.example.${identifier}`, "", name);
    const contents = [make("one", "A"), make("two", "B")];
    await applied(t, {
      changes: [change("create", KIND, "A", profile(contents[0]!)), change("create", KIND, "B", profile(contents[1]!))],
      files: filesOf(...contents),
    });
    const swapped = [make("two", "A"), make("one", "B")];
    await applied(t, {
      changes: [change("update", KIND, "A", profile(swapped[0]!)), change("update", KIND, "B", profile(swapped[1]!))],
      files: filesOf(...swapped),
    });
    const rows = await t.store.configurationProfiles.list({ order: [{ column: "id", direction: "asc" }] });
    expect(rows.map(({ name, identifier }) => [name, identifier])).toEqual([
      ["B", "com.example.one"],
      ["A", "com.example.two"],
    ]);
  });

  it("show deleted labels as such, so that files can correct them", async () => {
    const t = await start(engine);
    const wifi = mobileconfig("com.example.wifi", "", "Wi-Fi");
    await applied(t, {
      changes: [
        change("create", "label", "L", label()),
        change("create", KIND, "Wi-Fi", profile(wifi, { labels_include_any: ["L"] })),
      ],
      files: filesOf(wifi),
    });
    expect((await t.delete("/labels/L")).status).toBe(200);
    expect(thingValue(await stateOf(t), KIND, "Wi-Fi")).toMatchObject({ labels_include_any: ["L (deleted)"] });
    await applied(t, { changes: [change("update", KIND, "Wi-Fi", profile(wifi))] });
    expect(thingValue(await stateOf(t), KIND, "Wi-Fi")).toMatchObject({ labels_include_any: [] });
  });

  it.each<[string, () => [string, string, object, string[]], string, string]>([
    [
      "no content",
      () => ["create", "P", profile("x"), []],
      "value.sha256",
      "does not contain the files with these digests",
    ],
    [
      "another name",
      () => {
        const content = mobileconfig("com.example.p", "", "Q");
        return ["create", "P", profile(content), [content]];
      },
      "name",
      'the name in the file is "Q"',
    ],
    [
      "another platform",
      () => {
        const content = declaration();
        return ["create", "P", { ...profile(content), platform: "windows" }, [content]];
      },
      "value.platform",
      "is a profile for darwin",
    ],
    ["no profile", () => ["create", "P", profile("text"), ["text"]], "value", "not a profile of a known format"],
    [
      "an unknown label",
      () => {
        const content = declaration();
        return ["create", "P", profile(content, { labels_include_any: ["None"] }), [content]];
      },
      "value.labels_include_any",
      "None",
    ],
  ])("with %s are refused, with the change that is wrong", async (_, given, name, reason) => {
    const t = await start(engine);
    const [action, called, value, contents] = given();
    const changes = [change(action as "create", KIND, called, value)];
    const status = reason === "None" ? 400 : 422;
    const [error] = await refused(t, status, { changes, files: filesOf(...contents) });
    expect(error!.name).toBe(`changes.0.${name}`);
    expect(error!.reason).toContain(reason);
    expect(await t.store.configurationProfiles.count()).toBe(0);
  });

  it("whose contents have other digests are refused, and callers see only the profiles of their teams", async () => {
    const t = await start(engine);
    const content = declaration();
    const [error] = await refused(t, 422, { changes: [], files: { [digest("x")]: base64(content) } });
    expect(error!.name).toBe(`files.${digest("x")}`);
    await applied(t, {
      changes: [
        change("create", "team", "Ops", { description: "" }),
        change("create", "team", "Sales", { description: "" }),
        change("create", KIND, "P", profile(content)),
        change("create", KIND, "P", profile(content), "Ops"),
      ],
      files: filesOf(content),
    });
    const [ops] = await t.store.teams.list();
    const { token } = await makeUser(t, { teams: [{ id: ops!.id, role: "admin" }] });
    const state = await stateOf(t.as(token), { files: true });
    expect(state.things.filter(({ kind }) => kind === KIND).map(({ owner }) => owner)).toEqual(["Ops"]);
  });

  it("have activations of their own, which are sent and compared like the content", async () => {
    const t = await start(engine);
    const content = declaration("com.example.rules");
    const [first, second] = [activation("com.example.rules"), activation("com.example.rules")];
    const given = (own: string | null) => profile(content, { activation_sha256: own === null ? null : digest(own) });
    const set = (action: "create" | "update", own: string | null) =>
      applied(t, {
        changes: [change(action, KIND, "rules", given(own))],
        files: filesOf(content, ...(own === null ? [] : [own])),
      });
    await set("create", first);
    const state = await stateOf(t, { files: true });
    expect(thingValue(state, KIND, "rules")).toMatchObject(given(first));
    expect(state.files).toEqual(filesOf(content, first));
    expect(await set("update", first)).toEqual({ create: 0, update: 0, delete: 0 });
    await set("update", second);
    expect(thingValue(await stateOf(t), KIND, "rules")).toMatchObject(given(second));
    const missing = { changes: [change("update", KIND, "rules", given(first))], files: filesOf(content) };
    expect((await refused(t, 422, missing))[0]!.reason).toContain("does not contain the files");
    const foreign = activation("com.example.other");
    const wrong = { changes: [change("update", KIND, "rules", given(foreign))], files: filesOf(content, foreign) };
    expect((await refused(t, 422, wrong))[0]).toMatchObject({ name: "changes.0.value.activation" });
    await set("update", null);
    expect(await t.store.configurationProfiles.list()).toMatchObject([{ activation_identifier: null }]);
  });
});

const ASSET = "declaration_asset";
const assetValue = (content: string, file_name = "asset.json") => ({ file_name, sha256: digest(content) });

describe.each(bothEngines)("asset declarations of an apply on %s", (engine) => {
  it("come with the declarations that refer to them, are replaced, and go with them", async () => {
    const t = await start(engine);
    const first = asset("com.example.asset", { Reference: { DataURL: "https://one.example.com" } });
    const second = asset("com.example.asset", { Reference: { DataURL: "https://two.example.com" } });
    const rules = declaration("com.example.rules", { AssetReference: "com.example.asset" });
    await applied(t, {
      changes: [
        change("create", ASSET, "com.example.asset", assetValue(first)),
        change("create", KIND, "rules", profile(rules)),
      ],
      files: filesOf(first, rules),
    });
    const state = await stateOf(t, { files: true });
    expect(thingValue(state, ASSET, "com.example.asset")).toEqual(assetValue(first));
    expect(state.files).toEqual(filesOf(first, rules));
    const { uuid } = (await t.store.declarationAssets.first({}))!;
    const changed = [change("update", ASSET, "com.example.asset", assetValue(second, "b.json"))];
    expect(await applied(t, { changes: changed, files: filesOf(second) })).toEqual({ create: 0, update: 1, delete: 0 });
    expect(await t.store.declarationAssets.list()).toMatchObject([
      { uuid, name: "b.json", checksum: digest(second), identifier: "com.example.asset" },
    ]);
    const gone = change("delete", ASSET, "com.example.asset");
    expect((await refused(t, 409, { changes: [gone] }))[0]!.reason).toContain("refers to the asset");
    expect(await applied(t, { changes: [gone, change("delete", KIND, "rules")] })).toMatchObject({ delete: 2 });
    expect(await t.store.declarationAssets.count()).toBe(0);
  });
});

describe.each(rulesEngines)("asset declarations of an apply on %s", (engine) => {
  it("are refused with the change that is wrong, and are those of the caller's teams", async () => {
    const t = await start(engine);
    const content = asset("com.example.asset");
    const variable = asset("com.example.v", { a: "$SVC_VAR_HOST_UUID" });
    for (const [name, given, files, reason] of [
      ["com.example.other", assetValue(content), [content], "the identifier in the file"],
      ["com.example.asset", assetValue(content), [], "does not contain the file"],
      ["com.example.v", assetValue(variable), [variable], "cannot contain variables"],
      ["x", assetValue(declaration()), [], "does not contain the file"],
    ] as const) {
      const changes = [change("create", ASSET, name, given)];
      const [error] = await refused(t, 422, { changes, files: filesOf(...files) });
      expect(error!.reason).toContain(reason);
    }
    await applied(t, {
      changes: [
        change("create", "team", "Ops", { description: "" }),
        change("create", ASSET, "com.example.asset", assetValue(content)),
        change("create", ASSET, "com.example.asset", assetValue(content), "Ops"),
      ],
      files: filesOf(content),
    });
    const [ops] = await t.store.teams.list();
    const { token } = await makeUser(t, { teams: [{ id: ops!.id, role: "gitops" }] }, { api_only: true });
    const { things } = await stateOf(t.as(token));
    expect(things.filter(({ kind }) => kind === ASSET).map(({ owner }) => owner)).toEqual(["Ops"]);
    const changes = [change("delete", ASSET, "com.example.asset")];
    expect((await t.as(token).post("/spec/apply", { changes })).status).toBe(403);
  });
});
