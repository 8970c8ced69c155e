// Replacing all packages of a team: what is downloaded, what is changed, and what is refused whole.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { PackageBatch } from "../../src/api/software/package-batches.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { days } from "../../src/server/platform/core/clock.ts";
import { fetchFile } from "../../src/server/platform/files/fetch.ts";
import { eq, everything } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { allowLocal, type Fake, newDir, type Reply, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, writeCatalogue } from "../support/catalogue.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");
const script = (name: string) => `#!/bin/sh\necho ${name}\n`;
const outbound_allow = allowLocal.outbound_allow;

type Item = Record<string, unknown>;
const start = (t: Caller, packages: readonly Item[], query = "") =>
  t.post(`/software/batch${query}`, { software: { packages } });
async function started(t: Caller, packages: readonly Item[], query = ""): Promise<string> {
  const reply = await start(t, packages, query);
  expect(reply.status, await reply.clone().text()).toBe(202);
  return ((await reply.json()) as { request_uuid: string }).request_uuid;
}
const stateOf = async (t: Caller, uuid: string, query = ""): Promise<PackageBatch> =>
  (await (await t.get(`/software/batch/${uuid}${query}`)).json()) as PackageBatch;
async function ended(t: Caller, uuid: string): Promise<PackageBatch> {
  await expect.poll(async () => (await stateOf(t, uuid)).status, { timeout: 20_000 }).not.toBe("processing");
  return stateOf(t, uuid);
}
const replaced = async (t: Caller, packages: readonly Item[], query = "") =>
  ended(t, await started(t, packages, query));
const refusal = async (reply: Response) => {
  const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
  return [reply.status, errors[0]!.name, errors[0]!.reason] as const;
};
/** `NAME VERSION` of what the team offers. */
const offered = async (t: TestApp, team: number | null = null) =>
  (await t.store.softwareInstallers.list({ where: eq("team_id", team) }))
    .map(({ file_name, sha256: digest }) => `${file_name} ${digest.slice(0, 4)}`)
    .sort();
const shown = (name: string, text = script(name)) => `${name}.sh ${sha256(text).slice(0, 4)}`;
const types = async (t: TestApp) =>
  (await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] }))
    .map(({ type }) => type)
    .filter((type) => type.endsWith("_software"));

/** A server of installers: the path is the file's name. */
async function startFiles(answer?: (name: string, etag: string | undefined) => Reply | Promise<Reply> | undefined) {
  return startFake(async ({ url, headers }) => {
    const name = url.pathname.slice(1);
    const etag = headers["if-none-match"];
    return (await answer?.(name, etag)) ?? { status: 200, body: script(name.replace(/\.sh$/, "")) };
  });
}

describe.each(bothEngines)("packages of a team on %s", (engine) => {
  let t: TestApp;
  let team: number;
  let files: Fake;
  beforeEach(async () => {
    t = await startApp({ engine, settings: { outbound_allow } });
    team = (await makeTeam(t, "Workstations")).id;
    files = await startFiles();
  });
  const query = "?team_name=Workstations";

  it("are not fetched if a query cannot be one", async () => {
    const url = `${files.url}/a.sh`;
    for (const pre_install_query of ["SELECT 1 FORM users", "-- x", ";", "SELECT 1\0", "DELETE FROM users"])
      expect(await refusal(await start(t, [{ url }, { url, pre_install_query }])), pre_install_query).toEqual([
        422,
        "software.packages.1.pre_install_query",
        expect.stringContaining("pre_install_query: "),
      ]);
    expect(await t.store.packageBatches.count()).toBe(0);
  });

  it("are replaced in one step by what the server downloads", async () => {
    const label = await makeLabel(t, "Testers");
    const old = await replaced(t, [{ url: `${files.url}/old.sh` }, { url: `${files.url}/kept.sh` }], query);
    expect(old).toMatchObject({ status: "completed", message: "", progress: 2, total: 2 });
    expect(await offered(t, team)).toEqual([shown("kept"), shown("old")]);
    await replaced(t, [{ url: `${files.url}/unassigned.sh` }]);

    const list = [
      { url: `${files.url}/new.sh`, hash_sha256: sha256(script("new")).toUpperCase() },
      {
        url: `${files.url}/kept.sh`,
        self_service: true,
        install_during_setup: true,
        categories: ["Tools"],
        display_name: "The kept one",
        labels_include_any: [label.name],
        uninstall_script: "rm kept",
        post_install_script: "echo after",
        pre_install_query: " SELECT 1 ",
      },
    ];
    const done = await replaced(t, list, query);
    expect(done.status, done.message).toBe("completed");
    expect(done.packages).toMatchObject([
      {
        team_id: team,
        url: `${files.url}/new.sh`,
        hash_sha256: sha256(script("new")),
        svc_maintained_app_id: null,
        svc_maintained_app_slug: "",
        icon_hash_sha256: "",
        icon_filename: "",
      },
      { url: `${files.url}/kept.sh` },
    ]);
    expect(await offered(t, team)).toEqual([shown("kept"), shown("new")]);
    expect(await offered(t)).toEqual([shown("unassigned")]);
    const kept = await t.store.softwareInstallers.first({ where: eq("title_id", done.packages![1]!.title_id) });
    expect(kept).toMatchObject({
      self_service: true,
      install_during_setup: true,
      categories: ["Tools"],
      display_name: "The kept one",
      install_script: script("kept"),
      uninstall_script: "rm kept",
      post_install_script: "echo after",
      pre_install_query: "SELECT 1",
    });
    expect(await t.store.installerLabels.list()).toMatchObject([{ installer_id: kept!.id, name: "Testers" }]);
    expect(await types(t)).toEqual([
      "added_software",
      "added_software",
      "added_software",
      "deleted_software",
      "added_software",
      "edited_software",
    ]);
    // What is left out is reset, and the same list changes nothing.
    await replaced(t, [list[0]!, { url: `${files.url}/kept.sh` }], query);
    expect(await t.store.softwareInstallers.get(kept!.id)).toMatchObject({ self_service: false, categories: [] });
    expect(await t.store.installerLabels.count()).toBe(0);
    const before = (await types(t)).length;
    await replaced(t, [{ url: `${files.url}/kept.sh` }, list[0]!], query);
    expect((await types(t)).length).toBe(before);
    // A bare list is accepted, and an empty one removes all.
    const { request_uuid } = (await (await t.post(`/software/batch${query}`, { software: [] })).json()) as {
      request_uuid: string;
    };
    expect(await ended(t, request_uuid)).toMatchObject({ status: "completed", packages: [], total: 0 });
    expect([await offered(t, team), await offered(t)]).toEqual([[], [shown("unassigned")]]);
  });

  it("stay as they are if one cannot be downloaded, in a dry run, or while a policy installs one", async () => {
    await replaced(t, [{ url: `${files.url}/old.sh` }], query);
    const before = await offered(t, team);
    files.answer = ({ url }) =>
      url.pathname === "/gone.sh" ? { status: 404 } : { status: 200, body: script(url.pathname.slice(1, -3)) };
    const failed = await replaced(
      t,
      [{ url: `${files.url}/new.sh` }, { url: `${files.url}/gone.sh?key=hidden` }],
      query,
    );
    expect(failed).toEqual({
      status: "failed",
      message: "package 2 (gone.sh of 127.0.0.1): url: the file was not downloaded: 127.0.0.1 answered with status 404",
      progress: 0,
      total: 2,
      packages: null,
      files: null,
    });
    const dry = await replaced(t, [{ url: `${files.url}/new.sh` }], `${query}&dry_run=true`);
    expect(dry).toMatchObject({ status: "completed", total: 1 });
    const other = await replaced(t, [{ url: `${files.url}/new.sh`, install_script: "echo" }], `${query}&dry_run=1`);
    expect(other).toMatchObject({ status: "failed", packages: null });
    expect(other.message).toContain("package 1 (new.sh of 127.0.0.1): install_script: a script package");
    expect(await offered(t, team)).toEqual(before);

    const { title_id } = (await t.store.softwareInstallers.first({ where: everything }))!;
    const policy = { name: "Old is installed", query: "SELECT 1", software_title_id: title_id };
    expect((await t.post(`/teams/${team}/policies`, policy)).status).toBe(200);
    const used = await replaced(t, [{ url: `${files.url}/new.sh` }], query);
    expect([used.status, used.message]).toEqual([
      "failed",
      'the package old.sh is not in the list, but the policy "Old is installed" installs it',
    ]);
    const twice = await replaced(t, [{ url: `${files.url}/old.sh` }, { url: `${files.url}/old.sh?again` }], query);
    expect(twice.message).toContain("it is of the same title as package 1 (old.sh of 127.0.0.1)");
    expect(await offered(t, team)).toEqual(before);
    expect(await types(t)).toEqual(["added_software"]);
  });

  it("go on where they were when another server takes over, and each file is downloaded once", async () => {
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    files.answer = async ({ url }) => {
      if (url.pathname === "/second.sh") await paused;
      return { status: 200, body: script(url.pathname.slice(1, -3)) };
    };
    const uuid = await started(t, [{ url: `${files.url}/first.sh` }, { url: `${files.url}/second.sh` }], query);
    await expect.poll(() => files.requests.length).toBe(2);
    expect(await stateOf(t, uuid)).toMatchObject({ status: "processing", progress: 1, total: 2, packages: null });
    const dead = { runner: "the dead one", runner_until: new Date(t.clock.now() - 1).toISOString() };
    await t.store.tasks.update({ where: everything, set: dead });
    resume();
    expect(await ended(t, uuid)).toMatchObject({ status: "completed", progress: 2 });
    expect(files.requests.filter(({ url }) => url.pathname === "/first.sh").length).toBe(1);
    expect(await types(t)).toEqual(["added_software", "added_software"]);
  });

  it("are those of the later of two requests", async () => {
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    files.answer = async ({ url }) => {
      if (url.pathname === "/slow.sh") await paused;
      return { status: 200, body: script(url.pathname.slice(1, -3)) };
    };
    const first = await started(t, [{ url: `${files.url}/slow.sh` }], query);
    await expect.poll(() => files.requests.length).toBe(1);
    await replaced(t, [{ url: `${files.url}/quick.sh` }], query);
    resume();
    const lost = await ended(t, first);
    expect([lost.status, lost.message]).toEqual([
      "failed",
      "the packages of the team were replaced by a later request meanwhile",
    ]);
    expect(await offered(t, team)).toEqual([shown("quick")]);
  });
});

describe.each(rulesEngines)("a replacement of packages on %s", (engine) => {
  it("downloads nothing twice, whether the digest or the server's tag shows that it is stored", async () => {
    const t = await startApp({ engine, settings: { outbound_allow } });
    let text = script("one");
    const files = await startFiles((name, etag) => {
      if (name !== "tagged.sh") return { status: 200, body: text, headers: { etag: 'W/"weak"' } };
      const now = `"${sha256(text)}"`;
      return etag === now ? { status: 304 } : { status: 200, body: text, headers: { etag: now } };
    });
    const tagged = { url: `${files.url}/tagged.sh` };
    const transferred = () => files.requests.length;
    await replaced(t, [tagged]);
    await replaced(t, [tagged]);
    expect(files.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, `"${sha256(text)}"`]);
    // The digest is known.
    await replaced(t, [{ ...tagged, hash_sha256: sha256(text) }]);
    await replaced(t, [{ hash_sha256: sha256(text) }]);
    expect(transferred()).toBe(2);
    expect(await offered(t)).toEqual([`tagged.sh ${sha256(text).slice(0, 4)}`]);
    text = script("two");
    await replaced(t, [tagged]);
    expect(await offered(t)).toEqual([`tagged.sh ${sha256(text).slice(0, 4)}`]);
    await replaced(t, [{ ...tagged, always_download: true }]);
    expect(files.requests.at(-1)!.headers["if-none-match"]).toBeUndefined();
    const other = await replaced(t, [{ ...tagged, hash_sha256: "0".repeat(64) }]);
    expect(other.message).toContain("the file of 127.0.0.1 has another SHA-256 digest");
    // A weak tag does not promise the same bytes.
    await replaced(t, [{ url: `${files.url}/weak.sh` }]);
    await replaced(t, [{ url: `${files.url}/weak.sh` }]);
    expect(files.requests.at(-1)!.headers["if-none-match"]).toBeUndefined();
    t.clock.advance(days(100));
    await runJob(t.services, "file_cleanup");
    expect(await t.store.fileOrigins.count()).toBe(0);
  });

  it("names files as their server does", async () => {
    const t = await startApp({ engine, settings: { outbound_allow } });
    const deb = await readFile("test/fixtures/packages/hello-xz.deb");
    const files = await startFiles((name) => ({
      status: 200,
      body: deb,
      headers: {
        "content-disposition":
          name === "plain" ? 'attachment; filename="../../hello.deb"' : "attachment; filename*=UTF-8''h%C3%A9llo.deb",
      },
    }));
    for (const [path, name] of [
      ["plain", "hello.deb"],
      ["coded", "héllo.deb"],
    ]) {
      const done = await replaced(t, [{ url: `${files.url}/${path}` }]);
      expect([done.status, done.message]).toEqual(["completed", ""]);
      expect(await t.store.softwareInstallers.list()).toMatchObject([{ file_name: name, platform: "linux" }]);
    }
    // The file's server has only a part of it.
    const cut = await startFiles(() => ({ status: 200, body: deb.subarray(0, -20) }));
    const refused = await replaced(t, [{ url: `${cut.url}/cut.deb` }]);
    expect([refused.status, refused.message]).toEqual(["failed", expect.stringContaining("damaged or incomplete")]);
    const unnamed = await startFiles(() => ({ status: 200, body: deb }));
    const done = await replaced(t, [{ url: `${unnamed.url}/plain` }]);
    expect(done.message).toContain("package 1 (plain of 127.0.0.1): url: ");
  });

  it("adds maintained apps, with the scripts of the catalogue or other ones", async () => {
    const dir = newDir();
    const t = await startApp({ engine, settings: { outbound_allow, catalogue_url: dir } });
    const files = await startFiles();
    const installer_url = `${files.url}/one.dmg`;
    const versions = [
      catalogueVersion({ installer_url, sha256: sha256(script("one.dmg")), default_categories: ["Browsers"] }),
    ];
    writeCatalogue(dir, [
      { slug: "one/darwin", name: "One", versions, refs: { in: script("in"), out: script("out") } },
    ]);
    await runJob(t.services, "catalogue");
    const app = (await t.store.catalogueApps.first({ where: everything }))!;
    const done = await replaced(t, [{ slug: "one/darwin", uninstall_script: script("own") }]);
    expect(done.packages).toMatchObject([
      { url: installer_url, svc_maintained_app_id: app.id, svc_maintained_app_slug: "one/darwin" },
    ]);
    const [row] = await t.store.softwareInstallers.list();
    expect(row).toMatchObject({
      install_script: script("in"),
      uninstall_script: script("own"),
      categories: ["Browsers"],
      catalogue_app_id: app.id,
    });
    // Another team gets the file by its digest, with what is known of it.
    const { name } = await makeTeam(t, "Others");
    const same = await replaced(t, [{ hash_sha256: row!.sha256 }], `?team_name=${name}`);
    expect(same.packages, same.message).toMatchObject([{ title_id: row!.title_id, svc_maintained_app_id: app.id }]);
    expect(files.requests.length).toBe(1);
    await replaced(t, [{ slug: "one/darwin", categories: [] }]);
    expect(await t.store.softwareInstallers.get(row!.id)).toMatchObject({
      categories: [],
      uninstall_script: script("out"),
    });
    files.answer = () => ({ status: 200, body: "another file" });
    const newer = [catalogueVersion({ installer_url: `${files.url}/two.dmg`, version: "2.0" })];
    writeCatalogue(dir, [{ slug: "one/darwin", name: "One", versions: newer }]);
    await runJob(t.services, "catalogue");
    const wrong = await replaced(t, [{ slug: "one/darwin" }]);
    expect([wrong.status, wrong.message]).toEqual([
      "failed",
      "package 1 (one/darwin): slug: the installer was not downloaded: the file of 127.0.0.1 has another SHA-256 digest",
    ]);
    expect((await t.store.softwareInstallers.get(row!.id))!.version).toBe("1.0");
    const both = await start(t, [{ slug: "one/darwin", url: installer_url }]);
    expect((await refusal(both)).slice(0, 2)).toEqual([422, "software.packages.0.url"]);
  });

  it("refuses at once what cannot be, and names the package", async () => {
    const t = await startApp({ engine });
    const refused = async (item: Item) => refusal(await start(t, [{ url: "https://example.com/a.sh" }, item]));
    expect(await refused({})).toEqual([
      422,
      "software.packages.1.url",
      expect.stringContaining("package 2 (without a file): url: slug, url or hash_sha256 is required"),
    ]);
    expect((await refused({ url: "https://example.com/b.sh", selfservice: true } as Item)).slice(0, 2)).toEqual([
      400,
      "software.packages.1.selfservice",
    ]);
    expect((await refused({ url: "ftp://example.com/a.sh" })).slice(0, 2)).toEqual([422, "software.packages.1.url"]);
    expect((await refused({ url: "https://u:p@example.com/a.sh" }))[2]).toContain("must not contain a user name");
    expect((await refused({ slug: "none/darwin" }))[2]).toBe(
      "package 2 (none/darwin): slug: the catalogue has no such app",
    );
    expect((await refused({ hash_sha256: "1".repeat(64) })).slice(0, 2)).toEqual([
      422,
      "software.packages.1.hash_sha256",
    ]);
    expect((await refused({ hash_sha256: "no" })).slice(0, 1)).toEqual([422]);
    const labels = { url: "https://example.com/b.sh", labels_include_any: ["A"], labels_exclude_any: ["B"] };
    expect((await refused(labels)).slice(0, 2)).toEqual([422, "software.packages.1.labels_exclude_any"]);
    expect((await refused({ url: "https://example.com/b.sh", labels_include_any: ["unknown"] })).slice(0, 1)).toEqual([
      400,
    ]);
    expect((await start(t, [], "?team_name=unknown")).status).toBe(404);
    expect((await t.post("/software/batch", { software: 7 })).status).toBe(422);
    for (const software of [{ packages: null }, null])
      expect((await t.post("/software/batch", { software })).status, "null is no empty list").toBe(422);
    expect((await t.get("/software/batch/unknown")).status).toBe(404);
    expect(await t.store.packageBatches.count()).toBe(0);
    // A private address is not asked.
    const blocked = await replaced(t, [{ url: "http://127.0.0.1:9/a.sh" }]);
    expect(blocked.message).toContain("package 1 (a.sh of 127.0.0.1): url: the file was not downloaded: ");
  });

  it("is for those who may change packages of the team, also when its last step begins", async () => {
    const t = await startApp({ engine, settings: { outbound_allow } });
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const files = await startFiles(async (name) => {
      if (name === "slow.sh") await paused;
      return { status: 200, body: script("slow") };
    });
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    const caller = (role: "maintainer" | "observer" | "gitops", id: number) =>
      makeUser(t, { teams: [{ id, role }] }, { api_only: role === "gitops" });
    const [maintainer, gitops, observer, stranger] = [
      await caller("maintainer", own.id),
      await caller("gitops", own.id),
      await caller("observer", own.id),
      await caller("maintainer", other.id),
    ];
    expect((await start(observer, [], "?team_name=Own")).status).toBe(403);
    expect((await start(stranger, [], "?team_name=Own")).status).toBe(404);
    expect((await start(maintainer, [])).status).toBe(403);
    const uuid = await started(gitops, [{ url: `${files.url}/quick.sh` }], "?team_name=Own");
    expect((await ended(gitops, uuid)).status).toBe("completed");
    expect((await stranger.get(`/software/batch/${uuid}`)).status).toBe(404);
    expect((await observer.get(`/software/batch/${uuid}`)).status).toBe(403);

    // A digest of another team's package gives no access to its file.
    const secret = sha256(script("slow"));
    const hash = await start(stranger, [{ hash_sha256: secret }], "?team_name=Other");
    expect((await refusal(hash)).slice(0, 2)).toEqual([422, "software.packages.0.hash_sha256"]);
    const before = files.requests.length;
    const item = { hash_sha256: secret, url: `${files.url}/elsewhere.sh` };
    expect(await ended(stranger, await started(stranger, [item], "?team_name=Other"))).toMatchObject({
      status: "completed",
    });
    expect(files.requests.length).toBe(before + 1);

    const slow = await started(maintainer, [{ url: `${files.url}/slow.sh` }], "?team_name=Own");
    await expect.poll(() => files.requests.length).toBe(before + 2);
    await t.store.userTeams.delete(eq("user_id", maintainer.id));
    resume();
    expect(await ended(t, slow)).toMatchObject({ status: "failed", message: "forbidden" });
    expect(await offered(t, own.id)).toEqual([`quick.sh ${secret.slice(0, 4)}`]);
    const [free] = [await startApp({ engine, tier: "free" })];
    expect((await start(free, [])).status).toBe(402);
  });
});

it("a download is given up if its server trickles, so that it does not delay those of others", async () => {
  const t = await startApp({ settings: { outbound_allow } });
  const server = createServer((_, res) => {
    const timer = setInterval(() => res.write("x"), 20);
    res.on("close", () => clearInterval(timer));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.sh`;
  await expect(fetchFile(t.services, { url, maxBytes: 1_000_000, stretchMs: 300 })).rejects.toThrow(
    "127.0.0.1 sends too slowly",
  );
  expect(await t.store.files.count()).toBe(0);
});
