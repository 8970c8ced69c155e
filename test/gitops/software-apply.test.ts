// Software in files with real servers: what svc plan, apply and export do with it.
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fallbacksOf, fieldNames } from "../../src/api/plain-fields.ts";
import { packageFields } from "../../src/api/software/packages.ts";
import { storeAppFields } from "../../src/api/software/store-app.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { Manifest } from "../../src/server/software/catalogue/format.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { allowLocal, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, makeCatalogueApp } from "../support/catalogue.ts";
import { applied, change, refused, stateOf, thingValue } from "../support/configuration.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { formOf } from "../support/forms.ts";
import { gitops, mainFiles, writeAll } from "../support/gitops-cli.ts";
import { png } from "../support/icons.ts";
import { addVppToken, startLicenseService } from "../support/license-service.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const script = (name: string) => `#!/bin/sh\necho ${name}\n`;
/** A global file with the teams of the license token of the stand-in. */
const WITH_LICENSES =
  "org_settings: {mdm: {volume_purchasing_program: [{location: Main Street, teams: [All teams]}]}}\ncontrols: {}\nlabels: []\n";
const without = (value: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
const GLOBAL = "org_settings: {}\ncontrols: {}\nlabels: [{name: Testers, query: SELECT 1}]\n";

/** A server of installers: the path is the file's name. Files in `texts` have another content. */
async function startFiles(texts: Record<string, string> = {}) {
  return startFake(({ url }) => {
    const name = url.pathname.slice(1);
    const body = texts[name] ?? script(name);
    return name.startsWith("missing") ? { status: 404 } : { status: 200, body, headers: { etag: `"${sha256(body)}"` } };
  });
}

/** `URL or NAME digest` of what the team offers. */
const offered = async (t: TestApp, team: string | null) => {
  const row = team === null ? null : await t.store.teams.first({ where: eq("name", team) });
  const rows = await t.store.softwareInstallers.list({ where: eq("team_id", row?.id ?? null) });
  return rows.map(({ file_name, sha256: digest }) => `${file_name} ${digest.slice(0, 6)}`).sort();
};
const shown = (name: string, text = script(name)) => `${name} ${sha256(text).slice(0, 6)}`;

async function withFiles(t: TestApp, files: Record<string, string>) {
  const dir = await writeAll(new Map(Object.entries(files)));
  const main = ["-f", join(dir, "default.yml"), "-f", join(dir, "team.yml")];
  const onWait = () =>
    expect.poll(() => t.store.packageBatches.count(eq("status", "processing")), { timeout: 120_000 }).toBe(0);
  return {
    apply: (...more: string[]) => gitops(t, ["apply", ...main, "--yes", "--allow-delete", ...more], { onWait }),
    plan: (...more: string[]) => gitops(t, ["plan", ...main, "--exit-code", ...more]),
    dir,
  };
}

describe.each(bothEngines)("software of files on %s", (engine) => {
  it("is downloaded, offered, changed and removed, and exported without loss", async () => {
    const t = await startApp({ engine, settings: allowLocal });
    const texts: Record<string, string> = {};
    const files = await startFiles(texts);
    const app = await makeCatalogueApp(t);
    const installer = "the installer";
    texts["app.pkg"] = installer;
    const versions = [
      catalogueVersion({
        installer_url: `${files.url}/app.pkg`,
        sha256: sha256(installer),
        default_categories: ["Browsers"],
      }),
    ];
    const manifest = Manifest.parse({ versions, refs: { in: "#!/bin/sh", out: "#!/bin/sh" } });
    await t.store.catalogueApps.update({ where: eq("id", app.id), set: { manifest } });

    const team = `name: Ops
software:
  packages:
    - url: ${files.url}/a.sh
      self_service: true
      labels_include_any: [Testers]
      uninstall_script: {path: lib/un.sh}
    - path: lib/b.yml
      setup_experience: true
    - path: lib/own.sh
  svc_maintained_apps:
    - slug: firefox/darwin
policies:
  - name: Has b
    query: SELECT 1
    install_software: {package_path: lib/b.yml}
  - name: Has Firefox
    query: SELECT 2
    install_software: {svc_maintained_app_slug: firefox/darwin}
`;
    const lib = {
      "lib/un.sh": "#!/bin/sh\r\nrm a\r\n",
      "lib/b.yml": `url: ${files.url}/b.sh\nhash_sha256: ${sha256(script("b.sh"))}\npre_install_query: {path: q.sql}\n`,
      "lib/q.sql": "SELECT 1\n",
      "lib/own.sh": script("own"),
    };
    const one = await withFiles(t, { "default.yml": GLOBAL, "team.yml": team, ...lib });
    const dry = await one.apply("--dry-run");
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(files.requests).toHaveLength(0);
    expect(await t.store.softwareInstallers.count()).toBe(0);
    const first = await one.apply();
    expect(first.exitCode, first.stderr).toBe(0);
    expect(await offered(t, "Ops")).toEqual([
      shown("a.sh"),
      shown("app.pkg", installer),
      shown("b.sh"),
      shown("own.sh", script("own")),
    ]);
    const rows = await t.store.softwareInstallers.list({});
    const rowOf = (name: string) => rows.find(({ file_name }) => file_name === name)!;
    expect(rowOf("a.sh")).toMatchObject({
      self_service: true,
      uninstall_script: "#!/bin/sh\nrm a\n",
      install_script: script("a.sh"),
    });
    expect(rowOf("b.sh")).toMatchObject({ install_during_setup: true, pre_install_query: "SELECT 1" });
    expect(rowOf("app.pkg")).toMatchObject({ catalogue_app_id: app.id, categories: ["Browsers"] });
    const policies = await t.store.policies.list({});
    expect(Object.fromEntries(policies.map(({ name, software_title_id }) => [name, software_title_id]))).toEqual({
      "Has b": rowOf("b.sh").title_id,
      "Has Firefox": rowOf("app.pkg").title_id,
    });
    expect((await one.plan()).exitCode).toBe(0);

    const tags = () =>
      files.requests.filter(({ url }) => url.pathname === "/a.sh").map(({ headers }) => headers["if-none-match"]);
    // A URL without a digest is asked for at each apply; a package whose URL changes keeps its title.
    texts["a.sh"] = script("a2");
    expect((await one.plan()).exitCode).toBe(0);
    const again = await one.apply();
    expect(again.exitCode, again.stderr).toBe(0);
    expect(await offered(t, "Ops")).toContain(shown("a.sh", script("a2")));
    expect(tags()).toEqual([undefined, `"${sha256(script("a.sh"))}"`]);
    const always = team.replace("self_service: true", "self_service: true\n      always_download: true");
    const whole = await withFiles(t, { "default.yml": GLOBAL, "team.yml": always, ...lib });
    expect((await whole.plan()).exitCode).toBe(0);
    const downloaded = await whole.apply();
    expect(downloaded.exitCode, downloaded.stderr).toBe(0);
    expect(tags()).toHaveLength(3);
    expect(tags()[2]).toBeUndefined();
    texts["v2/b.sh"] = script("b2");
    const moved = `url: ${files.url}/v2/b.sh\nhash_sha256: ${sha256(script("b2"))}\n`;
    const less = team
      .replace("    - path: lib/own.sh\n", "")
      .replace("slug: firefox/darwin", "slug: firefox/darwin\n      categories: []");
    const two = await withFiles(t, { "default.yml": GLOBAL, "team.yml": less, ...lib, "lib/b.yml": moved });
    const third = await two.apply();
    expect(third.exitCode, third.stderr).toBe(0);
    expect(await offered(t, "Ops")).toEqual([
      shown("a.sh", script("a2")),
      shown("app.pkg", installer),
      shown("b.sh", script("b2")),
    ]);
    const now = await t.store.softwareInstallers.list({});
    expect(now.find(({ file_name }) => file_name === "b.sh")).toMatchObject({
      id: rowOf("b.sh").id,
      pre_install_query: "",
    });
    expect(now.find(({ file_name }) => file_name === "app.pkg")).toMatchObject({ categories: [] });
    expect((await two.plan()).exitCode).toBe(0);

    const out = join(two.dir, "exported");
    const exported = await gitops(t, ["export", "--dir", out]);
    expect(exported.exitCode, exported.stderr).toBe(0);
    const env = Object.fromEntries(
      [...(await readFile(join(out, ".env.example"), "utf8")).matchAll(/^(\w+)=/gm)].map(([, name]) => [name!, "x"]),
    );
    const main = await mainFiles(out);
    const empty = await gitops(t, ["plan", ...main, "--exit-code"], { env });
    expect(empty.stdout + empty.stderr).not.toMatch(/package|store app/);

    const none = await withFiles(t, { "default.yml": GLOBAL, "team.yml": "name: Ops\n" });
    expect((await none.apply()).exitCode).toBe(0);
    expect(await t.store.softwareInstallers.count()).toBe(0);
    expect(await t.store.policies.count()).toBe(0);
  });

  it("has icons, which are exported, changed and removed with the rest", async () => {
    const t = await startApp({ engine, settings: allowLocal });
    const files = await startFiles();
    const item = (icon: string) =>
      `name: Ops\nsoftware:\n  packages:\n    - url: ${files.url}/a.sh\n      hash_sha256: ${sha256(script("a.sh"))}\n${icon}`;
    const withIcon = async (image: Buffer | null) => {
      const text = item(image ? "      icon: {path: lib/a.png}\n" : "");
      const folder = await withFiles(t, { "default.yml": GLOBAL, "team.yml": text, "lib/a.png": "" });
      if (image) await writeFile(join(folder.dir, "lib/a.png"), image);
      return folder;
    };
    const stored = async () => {
      const [row, ...others] = await t.store.titleIcons.list();
      expect(others).toEqual([]);
      return row ? (await t.store.files.get(row.file_id))!.sha256 : null;
    };
    const edits = () => t.store.activities.count(eq("type", "edited_software"));
    const [one, two] = [png(200, 200, "one"), png(300, 300, "two")];
    const first = await withIcon(one);
    const dry = await first.apply("--dry-run");
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(await stored()).toBeNull();
    const made = await first.apply();
    expect(made.exitCode, made.stderr).toBe(0);
    expect(await stored()).toBe(digest(one));
    expect((await first.plan()).exitCode).toBe(0);
    const [row] = await t.store.softwareInstallers.list();
    const team = await t.store.teams.first({ where: eq("name", "Ops") });
    const shownIcon = await t.get(`/software/titles/${row!.title_id}/icon?team_id=${team!.id}`);
    expect(Buffer.from(await shownIcon.arrayBuffer()).equals(one)).toBe(true);

    const out = join(first.dir, "exported");
    const exported = await gitops(t, ["export", "--dir", out]);
    expect(exported.exitCode, exported.stderr).toBe(0);
    const names = (await readdir(out, { recursive: true })).filter((name) => name.endsWith(".png"));
    expect(names).toHaveLength(1);
    expect((await readFile(join(out, names[0]!))).equals(one)).toBe(true);

    expect(await edits()).toBe(0);
    expect((await (await withIcon(two)).apply()).exitCode).toBe(0);
    expect(await stored()).toBe(digest(two));
    expect(await edits()).toBe(1);
    const small = await (await withIcon(png(20))).apply();
    expect(small.exitCode).not.toBe(0);
    expect(small.stderr).toContain("120 to 1024 pixels");
    const text = await (await withIcon(Buffer.from("no image"))).apply();
    expect(text.stderr).toContain("a.png is not a PNG image");
    expect(await stored()).toBe(digest(two));
    expect((await (await withIcon(null)).apply()).exitCode).toBe(0);
    expect(await stored()).toBeNull();
    expect(await edits()).toBe(2);
  });

  it("may be store apps: on one platform, or on all", async () => {
    const service = await startLicenseService();
    const t = await startApp({ engine, settings: { ...allowLocal, ...service.settings } });
    service.assets = [{ adamId: "361285480", supportedPlatforms: ["iOS", "macOS"] }];
    const entry = { trackId: 361285480, trackName: "Keynote", version: "14.3" };
    service.store.desktopSoftware = [{ ...entry, bundleId: "com.example.keynote" }];
    service.store.software = [
      { ...entry, bundleId: "com.example.keynote.mobile", supportedDevices: ["iPhone15-iPhone15"] },
    ];
    await addVppToken(t, service);
    const image = png(128);
    const team = (app: string, more = "") => `name: Ops\nsoftware:\n  app_store_apps:\n    - {${app}}\n${more}`;
    const install = "policies: [{name: P, query: SELECT 1, install_software: {app_store_id: '361285480'}}]\n";
    const all = await withFiles(t, {
      "default.yml": WITH_LICENSES,
      "team.yml": team("app_store_id: '361285480', self_service: true", install),
    });
    const first = await all.apply();
    expect(first.exitCode, first.stderr).toBe(0);
    const apps = await t.store.storeApps.list({});
    expect(apps.map(({ platform, self_service }) => [platform, self_service]).sort()).toEqual([
      ["darwin", true],
      ["ios", true],
    ]);
    const [policy] = await t.store.policies.list({});
    expect(policy!.software_title_id).toBe(apps.find(({ platform }) => platform === "darwin")!.title_id);
    expect((await all.plan()).exitCode).toBe(0);

    const windows = "auto_update_enabled: true, auto_update_window_start: '22:00', auto_update_window_end: '04:00'";
    const phone = await withFiles(t, {
      "default.yml": WITH_LICENSES,
      "team.yml": team(
        `app_store_id: '361285480', platform: ios, ${windows}, configuration: {path: a.plist}, icon: {path: a.png}`,
      ),
      "a.plist": "<plist><dict/></plist>",
      "a.png": "",
    });
    await writeFile(join(phone.dir, "a.png"), image);
    const second = await phone.apply();
    expect(second.exitCode, second.stderr).toBe(0);
    expect(await t.store.storeApps.list({})).toMatchObject([
      {
        id: apps.find(({ platform }) => platform === "ios")!.id,
        self_service: false,
        auto_update_window_start: "22:00",
        every_platform: false,
        configuration: "<plist><dict/></plist>",
      },
    ]);
    expect((await phone.plan()).exitCode).toBe(0);
    const state = await stateOf(t, { files: true });
    expect(thingValue(state, "store_app", "361285480/ios", "Ops")).toMatchObject({
      configuration: sha256("<plist><dict/></plist>"),
      icon: digest(image),
    });
    expect(Object.keys(state.files!)).toContain(sha256("<plist><dict/></plist>"));
    expect(state.files![digest(image)]).toBe(image.toString("base64"));

    const stored = thingValue(state, "store_app", "361285480/ios", "Ops");
    const windowless = { ...stored, auto_update_window_start: null, auto_update_window_end: null };
    const value = without(windowless, fieldNames(storeAppFields));
    expect(await applied(t, { changes: [change("update", "store_app", "361285480/ios", value, "Ops")] })).toMatchObject(
      {
        update: 1,
      },
    );
    expect(thingValue(await stateOf(t), "store_app", "361285480/ios", "Ops")).toEqual({
      ...windowless,
      ...fallbacksOf(storeAppFields),
    });
  });
});

const whole = {
  slug: "",
  version: "",
  url: "",
  sha256: "",
  pre_install_query: "",
  install_script: "",
  uninstall_script: "",
  post_install_script: "",
  self_service: false,
  categories: [],
  default_categories: false,
  display_name: "",
  icon: "",
  setup_experience: false,
  setup_experience_platform: "",
  labels_include_all: [],
  labels_include_any: [],
  labels_exclude_any: [],
};
const ownScript = (name: string, more: object = {}, owner = "Ops") =>
  change("create", "package", `${name}.sh`, { ...whole, sha256: sha256(script(name)), ...more }, owner);
const bodies = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [sha256(script(name)), Buffer.from(script(name)).toString("base64")]));
/** Lets the server download the files, as svc apply does. */
async function downloaded(t: Caller, urls: readonly string[], query = "") {
  const packages = urls.map((url) => ({ url }));
  const reply = await t.post(`/software/batch?download_only=true${query}`, { software: { packages } });
  expect(reply.status, await reply.clone().text()).toBe(202);
  const { request_uuid } = (await reply.json()) as { request_uuid: string };
  const get = async () =>
    (await (await t.get(`/software/batch/${request_uuid}`)).json()) as {
      status: string;
      message: string;
      packages: null;
      files: { hash_sha256: string }[] | null;
    };
  await expect.poll(async () => (await get()).status, { timeout: 60_000 }).not.toBe("processing");
  return get();
}

describe.each(rulesEngines)("software of an apply on %s", (engine) => {
  const start = async () => {
    const t = await startApp({ engine, settings: allowLocal });
    await makeTeam(t, "Ops");
    return t;
  };

  it("only has files that the caller may have: stored, sent along, or downloaded by the same user", async () => {
    const t = await start();
    const files = await startFiles();
    const url = `${files.url}/x.sh`;
    const create = change("create", "package", url, { ...whole, url, sha256: sha256(script("x.sh")) }, "Ops");
    expect(await refused(t, 422, { changes: [create] })).toEqual([
      { name: "changes.0.value.url", reason: expect.stringContaining("let it download the file first") },
    ]);
    const other = await makeUser(t, "maintainer");
    const found = await downloaded(other, [url]);
    expect(found).toMatchObject({
      status: "completed",
      packages: null,
      files: [{ name: "x.sh", hash_sha256: sha256(script("x.sh")) }],
    });
    expect(await t.store.softwareInstallers.count()).toBe(0);
    await refused(t, 422, { changes: [create] });
    await downloaded(t, [url]);
    // The digest is known now, but the request that needs none at all is still refused.
    await refused(t, 422, { changes: [{ ...create, value: { ...(create.value as object), sha256: "" } }] });
    expect(await applied(t, { changes: [create] })).toEqual({ create: 1, update: 0, delete: 0 });
    expect(await offered(t, "Ops")).toEqual([shown("x.sh")]);
    const byDigest = change(
      "create",
      "package",
      sha256(script("x.sh")),
      { ...whole, sha256: sha256(script("x.sh")) },
      "No team",
    );
    expect(await applied(t, { changes: [byDigest] })).toEqual({ create: 1, update: 0, delete: 0 });
  });

  it("takes the default of a plain field that a request leaves out, as one of an older command line does", async () => {
    const t = await start();
    const create = ownScript("a", { self_service: true, display_name: "A" });
    await applied(t, { changes: [create], files: bodies("a") });
    const value = without(create.value as object, fieldNames(packageFields));
    expect(await applied(t, { changes: [change("update", "package", "a.sh", value, "Ops")] })).toMatchObject({
      update: 1,
    });
    expect(thingValue(await stateOf(t), "package", "a.sh", "Ops")).toMatchObject({
      ...value,
      ...fallbacksOf(packageFields),
    });
    expect(
      await refused(t, 422, { changes: [change("update", "package", "a.sh", without(value, ["sha256"]), "Ops")] }),
    ).toEqual([{ name: "changes.0.value.sha256", reason: expect.any(String) }]);
  });

  it("is refused whole with what went wrong", async () => {
    const t = await start();
    const failed = await downloaded(t, [`${(await startFiles()).url}/missing.sh`]);
    expect(failed).toMatchObject({ status: "failed", files: null, message: expect.stringContaining("status 404") });
    const both = await t.post("/software/batch?download_only=true&dry_run=true", { software: { packages: [] } });
    expect(both.status).toBe(422);
    const cases: [object, RegExp, string][] = [
      [{ sha256: "" }, /is required without a url and a slug/, "value.sha256"],
      [{ slug: "a/b" }, /the catalogue names the file/, "value.sha256"],
      [{ version: "1" }, /only maintained apps have versions/, "value.version"],
      [{ labels_include_any: ["Nobody"] }, /Nobody/, ""],
      [
        { setup_experience: true, setup_experience_platform: "windows" },
        /cannot install/,
        "value.setup_experience_platform",
      ],
      [{ setup_experience_platform: "mars" }, /mars is not a platform/, "value.setup_experience_platform"],
      [{ uninstall_script: "ab".repeat(32) }, /does not contain the file/, "value.uninstall_script"],
      [{ install_script: sha256(script("a")) }, /its own install script/, "value.install_script"],
    ];
    for (const [more, reason, place] of cases) {
      const changes = [change("create", "policy", "P", { query: "SELECT 1" }, "Ops"), ownScript("a", more)];
      const response = await t.post("/spec/apply", { changes, files: bodies("a"), skip_checks: true });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      const { errors } = (await response.json()) as { errors: { name: string; reason: string }[] };
      expect(errors[0]!.reason).toMatch(reason);
      expect(errors[0]!.name).toContain(place === "" ? "changes.1" : `changes.1.${place}`);
      expect(await t.store.policies.count()).toBe(0);
    }
  });

  it("has one package for each title, and a title that passes from one package to another keeps its row", async () => {
    const t = await start();
    await applied(t, { changes: [ownScript("a"), ownScript("b")], files: bodies("a", "b") });
    const files = await startFiles({ "a.sh": script("a3") });
    const url = `${files.url}/a.sh`;
    await downloaded(t, [url]);
    const create = change("create", "package", url, { ...whole, url, sha256: sha256(script("a3")) }, "Ops");
    expect((await refused(t, 422, { changes: [create] }))[0]!.reason).toMatch(
      /same software title as the package a\.sh/,
    );
    const before = await t.store.softwareInstallers.first({ where: eq("file_name", "a.sh") });
    const gone = change("delete", "package", "a.sh", undefined, "Ops");
    expect(await applied(t, { changes: [create, gone] })).toEqual({ create: 1, update: 0, delete: 1 });
    expect(await t.store.softwareInstallers.first({ where: eq("url", url) })).toMatchObject({ id: before!.id });
    expect(await offered(t, "Ops")).toEqual([shown("a.sh", script("a3")), shown("b.sh", script("b"))]);
  });

  it("is within its quotas at the end, not on the way", async () => {
    const size = script("a").length;
    const t = await startApp({ engine, settings: { ...allowLocal, package_max_per_team: 2 * size } });
    await makeTeam(t, "Ops");
    await applied(t, { changes: [ownScript("a"), ownScript("b")], files: bodies("a", "b") });
    const swap = [ownScript("c"), change("delete", "package", "a.sh", undefined, "Ops")];
    expect(await applied(t, { changes: swap, files: bodies("c") })).toEqual({ create: 1, update: 0, delete: 1 });
    const [error] = await refused(t, 413, { changes: [ownScript("d")], files: bodies("d") });
    expect(error!.reason).toContain("the packages of the team Ops would have");
    expect(await offered(t, "Ops")).toEqual([shown("b.sh", script("b")), shown("c.sh", script("c"))]);
    // A quota that is lowered stops what grows, and nothing else.
    Object.assign(t.services.settings, { package_max_per_team: size - 1 });
    expect(await applied(t, { changes: [change("delete", "package", "b.sh", undefined, "Ops")] })).toMatchObject({
      delete: 1,
    });
  });

  it("stays while a policy installs it, and goes with the policy or its team", async () => {
    const t = await start();
    const policy = { query: "SELECT 1", install_software: { package: "a.sh" } };
    const changes = [ownScript("a"), change("create", "policy", "P", policy, "Ops")];
    await applied(t, { changes, files: bodies("a") });
    expect(thingValue(await stateOf(t), "policy", "P", "Ops")).toMatchObject({ install_software: { package: "a.sh" } });
    const gone = change("delete", "package", "a.sh", undefined, "Ops");
    expect((await refused(t, 409, { changes: [gone] }))[0]!.reason).toMatch(
      /the policy "P" installs the package a\.sh/,
    );
    const without = change("update", "policy", "P", { query: "SELECT 1" }, "Ops");
    expect(await applied(t, { changes: [gone, without] })).toEqual({ create: 0, update: 1, delete: 1 });
    const wrong = change("update", "policy", "P", policy, "Ops");
    expect((await refused(t, 422, { changes: [wrong] }))[0]).toMatchObject({
      name: "changes.0.value.install_software",
    });
    const global = change("create", "policy", "G", policy);
    expect((await refused(t, 422, { changes: [global] }))[0]!.reason).toMatch(/global policy cannot install/);

    await applied(t, { changes: [ownScript("a")], files: bodies("a") });
    const all = [change("delete", "team", "Ops"), gone, change("delete", "policy", "P", undefined, "Ops")];
    expect(await applied(t, { changes: all })).toEqual({ create: 0, update: 0, delete: 3 });
    expect(await t.store.softwareInstallers.count()).toBe(0);
  });

  it("is seen and changed by those who may write packages of the team, and on the premium tier", async () => {
    const t = await start();
    await makeTeam(t, "Sales");
    await applied(t, {
      changes: [ownScript("a"), ownScript("a", {}, "Sales"), ownScript("a", {}, "No team")],
      files: bodies("a"),
    });
    const owners = async (caller: Caller) =>
      (await stateOf(caller)).things
        .filter(({ kind }) => kind === "package")
        .map(({ owner }) => owner)
        .sort();
    expect(await owners(t)).toEqual(["No team", "Ops", "Sales"]);
    const ops = (await t.store.teams.first({ where: eq("name", "Ops") }))!.id;
    const caller = await makeUser(t, { teams: [{ id: ops, role: "gitops" }] });
    expect(await owners(caller)).toEqual(["Ops"]);
    expect(await applied(caller, { changes: [ownScript("b")], files: bodies("b") })).toMatchObject({ create: 1 });
    const foreign = await caller.post("/spec/apply", { changes: [ownScript("b", {}, "Sales")], files: bodies("b") });
    expect([403, 404]).toContain(foreign.status);
    expect(
      (await caller.post("/spec/apply", { changes: [ownScript("b", {}, "No team")], files: bodies("b") })).status,
    ).toBe(403);
    expect(await offered(t, "Sales")).toEqual([shown("a.sh", script("a"))]);
  });
});

describe("a package that only its digest names", () => {
  it("is shown with the name of its file, also in a plan that was saved", async () => {
    const t = await startApp({ settings: allowLocal });
    await makeTeam(t, "Ops");
    const content = await readFile("test/fixtures/packages/hello-gzip.deb");
    const form = formOf({ software: new File([content], "hello-gzip.deb"), team_id: 1 });
    expect((await t.post("/software/package", form)).status).toBe(200);
    const { plan, dir } = await withFiles(t, { "default.yml": GLOBAL, "team.yml": "name: Ops\nsoftware: {}\n" });
    const line = `- package "hello-gzip.deb" ${digest(content).slice(0, 12)} (team Ops)`;
    const saved = join(dir, "saved.json");
    expect((await plan("--out", saved)).stdout).toContain(line);
    const changes = (JSON.parse(await readFile(saved, "utf8")) as { changes: { title?: string }[] }).changes;
    expect(changes.flatMap(({ title }) => title ?? [])).toEqual(["hello-gzip.deb"]);
    const dry = await gitops(t, ["apply", saved, "--allow-delete", "--dry-run"]);
    expect(dry.stdout + dry.stderr).toContain(line);
    const json = JSON.parse((await plan("-o", "json")).stdout) as { changes: { kind: string; title?: string }[] };
    expect(json.changes.find(({ kind }) => kind === "package")).toMatchObject({ title: "hello-gzip.deb" });
    expect((await gitops(t, ["apply", saved, "--allow-delete", "--yes"])).exitCode).toBe(0);
    expect(await offered(t, "Ops")).toEqual([]);
  });
});

describe("drift of software", () => {
  it("is explained by the activities of its team, or of hosts without one", async () => {
    const t = await startApp({ settings: allowLocal });
    await makeTeam(t, "Ops");
    const files = {
      "default.yml": GLOBAL,
      "team.yml": "name: Ops\nsoftware: {packages: [{path: own.sh}]}\n",
      "no-team.yml": "name: No team\nsoftware: {packages: [{path: own.sh}]}\n",
      "own.sh": script("own"),
    };
    const dir = await writeAll(new Map(Object.entries(files)));
    const main = Object.keys(files)
      .filter((name) => name.endsWith(".yml"))
      .flatMap((name) => ["-f", join(dir, name)]);
    expect((await gitops(t, ["apply", ...main, "--yes"])).exitCode).toBe(0);
    expect((await gitops(t, ["drift", ...main, "--exit-code"])).exitCode).toBe(0);
    for (const owner of ["Ops", "No team"]) {
      const value = { ...whole, sha256: sha256(script("own")), self_service: true };
      await applied(t, { changes: [change("update", "package", "own.sh", value, owner)] });
    }
    const drift = await gitops(t, ["drift", ...main, "--exit-code", "-o", "json"]);
    expect(drift.exitCode, drift.stderr).toBe(9);
    const { things } = JSON.parse(drift.stdout) as { things: { team: string; activity_id: number }[] };
    const makers = await Promise.all(things.map(({ activity_id }) => t.store.activities.get(activity_id)));
    expect(things.map(({ team }, i) => [team, makers[i]?.type, makers[i]?.details?.team_name ?? null])).toEqual([
      ["No team", "edited_software", null],
      ["Ops", "edited_software", "Ops"],
    ]);
  });
});

describe.each(bothEngines)("the order of a setup on %s", (engine) => {
  it("is that of the items in files, is exported, and is seen by a plan when it changes on the server", async () => {
    const t = await startApp({ engine, settings: allowLocal });
    const item = (name: string) => `    - {path: lib/${name}, setup_experience: true}\n`;
    const team = (...names: string[]) =>
      `name: Ops\nsoftware:\n  packages:\n    - {path: lib/z.sh}\n${names.map(item).join("")}`;
    const files = Object.fromEntries(["a.sh", "b.sh", "c.sh", "z.sh"].map((name) => [`lib/${name}`, script(name)]));
    const given = { "default.yml": GLOBAL, "team.yml": team("c.sh", "a.sh"), ...files };
    const { apply, plan, dir } = await withFiles(t, given);
    const made = await apply();
    expect(made.exitCode, made.stderr).toBe(0);
    const ops = (await t.store.teams.first({ where: eq("name", "Ops") }))!;
    const installed = async (): Promise<[string, number][]> => {
      const reply = await t.get(`/setup_experience/software?platform=linux&team_id=${ops.id}`);
      const { software_titles } = (await reply.json()) as {
        software_titles: { id: number; software_package: { name: string; install_during_setup: boolean } }[];
      };
      return software_titles
        .filter(({ software_package: { install_during_setup } }) => install_during_setup)
        .map(({ id, software_package }) => [software_package.name, id]);
    };
    const names = async () => (await installed()).map(([name]) => name);
    expect(await names()).toEqual(["c.sh", "a.sh"]);
    expect((await plan()).exitCode).toBe(0);

    await writeFile(join(dir, "team.yml"), team("c.sh", "b.sh", "a.sh"));
    expect((await apply()).exitCode).toBe(0);
    // What is new comes after what the server has, but in the order of the list.
    expect(await names()).toEqual(["c.sh", "b.sh", "a.sh"]);
    expect((await plan()).exitCode).toBe(0);

    const software_title_ids = (await installed()).map(([, id]) => id).reverse();
    await t.request("PUT", "/setup_experience/software", { platform: "linux", team_id: ops.id, software_title_ids });
    expect(await names()).toEqual(["a.sh", "b.sh", "c.sh"]);
    const drifted = await plan();
    expect([drifted.exitCode, drifted.stdout]).toEqual([9, expect.stringContaining('~ setup order "software"')]);

    const exported = join(dir, "exported");
    expect((await gitops(t, ["export", "--dir", exported])).exitCode).toBe(0);
    const text = await readFile(join(exported, "teams/ops.yml"), "utf8");
    expect([...text.matchAll(/scripts\/(\w)\.sh/g)].map(([, name]) => name)).toEqual(["a", "b", "c", "z"]);
    const main = ["-f", join(exported, "default.yml"), "-f", join(exported, "teams/ops.yml")];
    const env = { ENROLL_SECRET: "a-secret", ENROLL_SECRET_OPS: "another" };
    const same = await gitops(t, ["plan", ...main, "--exit-code"], { env });
    expect([same.exitCode, same.stdout], same.stderr).toEqual([0, expect.any(String)]);

    expect((await apply()).exitCode).toBe(0);
    expect(await names()).toEqual(["c.sh", "b.sh", "a.sh"]);
    const edits = await t.store.activities.list({ where: eq("type", "edited_setup_experience_software") });
    expect(edits.at(-1)!.details).toMatchObject({ platform: "linux", team_id: ops.id, team_name: "Ops" });
    await writeFile(join(dir, "team.yml"), team("c.sh"));
    expect((await apply()).exitCode).toBe(0);
    expect([await names(), (await plan()).exitCode]).toEqual([["c.sh"], 0]);
  });
});
