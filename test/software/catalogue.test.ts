// The catalogue of maintained apps: reading its files, its signature, and what users see of it.
import { generateKeyPairSync } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { CatalogueApp, CatalogueAppDetails } from "../../src/api/software/catalogue.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { newDir, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, writeCatalogue } from "../support/catalogue.ts";
import { bothEngines } from "../support/engines.ts";

const example = join(import.meta.dirname, "../../examples/catalogue");

interface Page {
  svc_maintained_apps: CatalogueApp[];
  count: number;
  meta: { has_next_results: boolean };
}

const list = async (t: TestApp, query = ""): Promise<Page> =>
  (await (await t.get(`/software/svc_maintained_apps${query}`)).json()) as Page;
const slugs = async (t: TestApp, query = "") => (await list(t, query)).svc_maintained_apps.map(({ slug }) => slug);

describe.each(bothEngines)("the catalogue on %s", (engine) => {
  let dir: string;
  let t: TestApp;
  beforeEach(async () => {
    dir = newDir();
    cpSync(example, dir, { recursive: true });
    t = await startApp({
      engine,
      settings: { catalogue_url: dir, catalogue_key: readFileSync(join(dir, "key.pem"), "utf8") },
    });
    await runJob(t.services, "catalogue");
  });

  it("shows the apps of a signed catalogue by name", async () => {
    const { svc_maintained_apps, count } = await list(t);
    expect(count).toBe(3);
    expect(svc_maintained_apps).toMatchObject([
      { name: "7-Zip", slug: "7-zip/windows", platform: "windows", version: "26.01" },
      { name: "Mozilla Firefox", slug: "firefox/darwin", platform: "darwin", version: "147.0.2" },
      { name: "Mozilla Firefox", slug: "firefox/windows", platform: "windows", version: "147.0.2" },
    ]);
  });

  it("counts an app once on a page, whatever the number of its platforms", async () => {
    const first = await list(t, "?per_page=1&order_key=name&order_direction=desc");
    expect(first.svc_maintained_apps.map(({ slug }) => slug)).toEqual(["firefox/darwin", "firefox/windows"]);
    expect(first).toMatchObject({ count: 3, meta: { has_next_results: true } });
    expect(await slugs(t, "?per_page=1&page=1&order_key=name&order_direction=desc")).toEqual(["7-zip/windows"]);
  });

  it("filters by name and platform", async () => {
    expect(await slugs(t, "?query=FIRE")).toEqual(["firefox/darwin", "firefox/windows"]);
    expect(await slugs(t, "?platform=windows")).toEqual(["7-zip/windows", "firefox/windows"]);
    expect((await t.get("/software/svc_maintained_apps?platform=linux")).status).toBe(400);
  });

  it("shows the installer and the scripts of an app's newest version", async () => {
    const [app] = (await list(t, "?platform=darwin")).svc_maintained_apps;
    const reply = await t.get(`/software/svc_maintained_apps/${app!.id}`);
    const { svc_maintained_app: found } = (await reply.json()) as { svc_maintained_app: CatalogueAppDetails };
    expect(found).toMatchObject({
      slug: "firefox/darwin",
      filename: "Firefox 147.0.2.pkg",
      url: "https://downloads.example.com/firefox/147.0.2/Firefox%20147.0.2.pkg",
      automatic_install_query: "SELECT 1 FROM apps WHERE bundle_identifier = 'org.mozilla.firefox';",
      categories: ["Browsers"],
    });
    expect(found.install_script).toContain("/usr/sbin/installer");
    expect(found.uninstall_script).toContain("Firefox.app");
    expect((await t.get("/software/svc_maintained_apps/9999")).status).toBe(404);
  });

  it("changes nothing if the signature is wrong", async () => {
    const [before] = (await list(t)).svc_maintained_apps;
    const file = join(dir, "apps.json");
    writeFileSync(file, readFileSync(file, "utf8").replace("7-Zip", "8-Zip"));
    await expect(runJob(t.services, "catalogue")).rejects.toThrow("its signature was not made with the key");
    expect((await list(t)).svc_maintained_apps[0]).toEqual(before);
  });

  it("keeps an app as it was if its own file has another digest than the signed list names", async () => {
    const file = join(dir, "7-zip/windows.json");
    writeFileSync(file, readFileSync(file, "utf8").replace("26.01", "99.99"));
    await t.store.catalogueApps.update({ where: { op: "all" }, set: { manifest_sha256: "" } });
    await runJob(t.services, "catalogue");
    expect((await list(t, "?query=7-zip")).svc_maintained_apps).toMatchObject([{ version: "26.01" }]);
  });
});

describe.each(bothEngines)("reading a catalogue on %s", (engine) => {
  it("reads it over HTTP, and only what has changed if the list names digests", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const dir = newDir();
    writeCatalogue(dir, [{ slug: "one/darwin" }, { slug: "two/windows" }], privateKey);
    const server = await startFake(({ url }) => ({ status: 200, body: readFileSync(join(dir, url.pathname)) }));
    const key = publicKey.export({ type: "spki", format: "der" }).toString("base64");
    const t = await startApp({ engine, settings: { catalogue_url: `${server.url}/`, catalogue_key: key } });
    await runJob(t.services, "catalogue");
    expect(await slugs(t)).toEqual(["one/darwin", "two/windows"]);
    server.requests.length = 0;
    writeCatalogue(
      dir,
      [
        { slug: "one/darwin" },
        { slug: "two/windows", versions: [catalogueVersion({ version: "2.0" }), catalogueVersion()] },
      ],
      privateKey,
    );
    await runJob(t.services, "catalogue");
    expect(server.requests.map(({ url }) => url.pathname)).toEqual([
      "/apps.json",
      "/apps.json.sig",
      "/two/windows.json",
    ]);
    expect((await list(t)).svc_maintained_apps.map(({ version }) => version)).toEqual(["1.0", "2.0"]);
  });

  it("leaves out apps that break the rules of the format, and reads the others", async () => {
    const dir = newDir();
    writeCatalogue(dir, [
      { slug: "good/darwin" },
      { slug: "../outside/darwin" },
      { slug: "wrong/linux" },
      { slug: "other/darwin", platform: "windows" },
      { slug: "no-script/darwin", refs: { in: "#!/bin/sh" } },
      { slug: "proto/darwin", versions: [catalogueVersion({ install_script_ref: "constructor" })] },
      { slug: "no-digest/darwin", versions: [catalogueVersion({ sha256: "no_check" })] },
      { slug: "no-url/darwin", versions: [catalogueVersion({ installer_url: "file:///etc/passwd" })] },
      { slug: "none/darwin", versions: [] },
      { slug: "broken/darwin" },
      { slug: "gone/darwin" },
    ]);
    writeFileSync(join(dir, "broken/darwin.json"), "{");
    rmSync(join(dir, "gone/darwin.json"));
    const t = await startApp({ engine, settings: { catalogue_url: dir } });
    await runJob(t.services, "catalogue");
    expect(await slugs(t)).toEqual(["good/darwin"]);
  });

  it("no longer shows apps that have left the catalogue, and gives them their old ids when they return", async () => {
    const dir = newDir();
    writeCatalogue(dir, [{ slug: "one/darwin" }, { slug: "two/darwin" }]);
    const t = await startApp({ engine, settings: { catalogue_url: dir } });
    await runJob(t.services, "catalogue");
    const { svc_maintained_apps: before } = await list(t);
    writeCatalogue(dir, [{ slug: "two/darwin" }]);
    await runJob(t.services, "catalogue");
    expect(await slugs(t)).toEqual(["two/darwin"]);
    expect((await t.get(`/software/svc_maintained_apps/${before[0]!.id}`)).status).toBe(404);
    writeCatalogue(dir, [{ slug: "one/darwin" }, { slug: "two/darwin" }]);
    await runJob(t.services, "catalogue");
    expect((await list(t)).svc_maintained_apps).toEqual(before);
  });

  it("reports a catalogue that cannot be read, and keeps what it had", async () => {
    const dir = newDir();
    writeCatalogue(dir, [{ slug: "one/darwin" }]);
    const t = await startApp({ engine, settings: { catalogue_url: dir } });
    await runJob(t.services, "catalogue");
    writeFileSync(join(dir, "apps.json"), JSON.stringify({ version: 1, apps: [] }));
    await expect(runJob(t.services, "catalogue")).rejects.toThrow("apps.json: version");
    rmSync(join(dir, "apps.json"));
    await expect(runJob(t.services, "catalogue")).rejects.toThrow("cannot be read: ENOENT");
    expect(await slugs(t)).toEqual(["one/darwin"]);
  });
});
