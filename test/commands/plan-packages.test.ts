// Large files of the setup of Apple devices from files: uploaded before an apply, planned by their digest, exported.
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { newHome } from "../support/cli.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { applyIn, exportTo, gitops, mainFiles, planIn, writeAll } from "../support/gitops-cli.ts";
import { makeUser } from "../support/make.ts";
import { entry, signature, xar } from "../support/xar.ts";

const digestOf = (content: Uint8Array | string) => createHash("sha256").update(content).digest("hex");
const [one, two] = [xar(), xar({ toc: signature + entry("Distribution") + entry("more") })];
const PDF = "%PDF-1.7 terms";

const FILES = new Map([
  [
    "default.yml",
    `org_settings: {mdm: {end_user_license_agreement: lib/terms.pdf}}
controls: {setup_experience: {bootstrap_package: lib/setup.pkg}}
`,
  ],
  ["teams/ops.yml", "name: Ops\ncontrols: {setup_experience: {bootstrap_package: ../lib/setup.pkg}}\n"],
  ["lib/terms.pdf", PDF],
]);
async function folder(files: ReadonlyMap<string, string> = FILES, content: Uint8Array = one): Promise<string> {
  const dir = await writeAll(files);
  await mkdir(join(dir, "lib"), { recursive: true });
  await writeFile(join(dir, "lib/setup.pkg"), content);
  return dir;
}
async function start(engine: "lowdb" | "postgres"): Promise<TestApp> {
  const app = await startApp({ engine });
  await turnOnAppleMdm(app);
  return app;
}
const packages = async (app: TestApp) => {
  const rows = await app.store.bootstrapPackages.list({ order: [{ column: "id", direction: "asc" }] });
  return Promise.all(
    rows.map(async ({ name, team_id, file_id }) => [
      name,
      team_id === null ? "none" : "team",
      (await app.store.files.get(file_id))!.sha256,
    ]),
  );
};
const named = (changes: Awaited<ReturnType<typeof planIn>>) =>
  changes.map(({ action, kind, name }) => [action, kind, name]);

let server: Server | undefined;
afterEach(() => void server?.close());
/** Serves the content, and counts the requests. */
async function serve(content: () => Uint8Array): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  server = createServer((request, reply) => {
    requests.push(request.headers.range ?? "");
    if (request.url !== "/packages/set%20up.pkg?v=1") return void reply.writeHead(404).end();
    reply.end(content());
  });
  await new Promise<void>((done) => server!.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/packages/set%20up.pkg?v=1`, requests };
}

describe.each(bothEngines)("bootstrap packages and the license agreement of svc apply on %s", (engine) => {
  it("are uploaded, replaced, renamed and deleted, and exported so that a plan is empty", async () => {
    const app = await start(engine);
    const dir = await folder();
    await applyIn(app, dir);
    expect(await packages(app)).toEqual([
      ["setup.pkg", "none", digestOf(one)],
      ["setup.pkg", "team", digestOf(one)],
    ]);
    expect(await app.store.eulas.list()).toMatchObject([{ name: "terms.pdf" }]);
    expect(await planIn(app, dir)).toEqual([]);

    const exported = await newHome();
    await exportTo(app, exported);
    expect(await readFile(join(exported, "lib/setup/setup.pkg"))).toEqual(one);
    expect(await readFile(join(exported, "lib/ops.setup/setup.pkg"))).toEqual(one);
    expect(await readFile(join(exported, "lib/setup/terms.pdf"), "utf8")).toBe(PDF);
    expect(await planIn(app, exported)).toEqual([]);

    await writeFile(join(dir, "lib/setup.pkg"), two);
    expect(named(await planIn(app, dir))).toEqual([
      ["update", "bootstrap_package", "setup.pkg"],
      ["update", "bootstrap_package", "setup.pkg"],
    ]);
    await applyIn(app, dir);
    expect((await packages(app)).map(([, , digest]) => digest)).toEqual([digestOf(two), digestOf(two)]);

    await rename(join(dir, "lib/setup.pkg"), join(dir, "lib/new.pkg"));
    await writeFile(
      join(dir, "default.yml"),
      "org_settings: {}\ncontrols: {setup_experience: {bootstrap_package: lib/new.pkg}}\n",
    );
    await writeFile(join(dir, "teams/ops.yml"), "name: Ops\n");
    await applyIn(app, dir);
    expect(await packages(app)).toEqual([["new.pkg", "none", digestOf(two)]]);
    expect(await app.store.eulas.count()).toBe(0);
    const types = (await app.store.activities.list()).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(["added_bootstrap_package", "deleted_bootstrap_package", "added_eula", "deleted_eula"]),
    );
  });
});

describe.each(rulesEngines)("bootstrap packages of svc apply on %s", (engine) => {
  it("may be at an address, and are read again if a saved plan is applied", async () => {
    const app = await start(engine);
    let content = one;
    const { url } = await serve(() => content);
    const dir = await writeAll(
      new Map([["default.yml", `org_settings: {}\ncontrols: {setup_experience: {bootstrap_package: "${url}"}}\n`]]),
    );
    const plan = join(dir, "plan.json");
    const planned = await gitops(app, ["plan", ...(await mainFiles(dir)), "--out", plan]);
    expect(planned.exitCode, planned.stderr).toBe(0);
    expect(planned.stdout).toContain('+ bootstrap package "set up.pkg"');
    content = two;
    const refused = await gitops(app, ["apply", plan, "--yes"]);
    expect([refused.exitCode, refused.stderr]).toEqual([5, expect.stringContaining("has changed since the plan")]);
    expect(await packages(app)).toEqual([]);
    content = one;
    const applied = await gitops(app, ["apply", plan, "--yes"]);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(await packages(app)).toEqual([["set up.pkg", "none", digestOf(one)]]);
    expect(await planIn(app, dir)).toEqual([]);
    content = two;
    expect(named(await planIn(app, dir))).toEqual([["update", "bootstrap_package", "set up.pkg"]]);
    const gone = await folder(
      new Map([["default.yml", `org_settings: {}\ncontrols: {setup_experience: {bootstrap_package: "${url}x"}}\n`]]),
    );
    await expect(planIn(app, gone)).rejects.toThrow("cannot be downloaded: the server replied with 404");
  });

  it("are not uploaded when an apply is only tried", async () => {
    const app = await start(engine);
    const dir = await folder();
    const tried = await gitops(app, ["apply", ...(await mainFiles(dir)), "--yes", "--dry-run"]);
    expect(tried.exitCode, tried.stderr).toBe(0);
    expect([await packages(app), await app.store.files.count(), await app.store.uploads.count()]).toEqual([[], 0, 0]);
  });

  it.each<[string, ReadonlyMap<string, string>, Uint8Array, string]>([
    ["an unsigned package", FILES, xar({ toc: entry("Distribution") }), "is not signed"],
    ["no package", FILES, Buffer.from("text"), "bootstrap package"],
    ["no PDF file", new Map([...FILES, ["lib/terms.pdf", "text"]]), one, "the file is not a PDF file"],
  ])("are refused with %s, and nothing is applied", async (_, files, content, reason) => {
    const app = await start(engine);
    await expect(applyIn(app, await folder(files, content))).rejects.toThrow(reason);
    expect([await app.store.teams.count(), await packages(app), await app.store.eulas.count()]).toEqual([0, [], 0]);
  });

  it.each([
    ["lib/none.pkg", "lib/none.pkg: does not exist"],
    ["lib", "unsupported extension, it must be .pkg"],
    ["lib/setup.dmg", "unsupported extension, it must be .pkg"],
  ])("are refused in files: %s", async (path, reason) => {
    const app = await start(engine);
    const dir = await folder(
      new Map([["default.yml", `org_settings: {}\ncontrols: {setup_experience: {bootstrap_package: ${path}}}\n`]]),
    );
    await expect(planIn(app, dir)).rejects.toThrow(reason);
  });

  it("are refused with device management off, and for users who may not write them", async () => {
    const app = await startApp({ engine });
    await expect(applyIn(app, await folder())).rejects.toThrow("device management is not turned on");
    await turnOnAppleMdm(app);
    await applyIn(app, await folder());
    const [ops] = await app.store.teams.list();
    const person = await makeUser(app, { teams: [{ id: ops!.id, role: "gitops" }] }, { api_only: true });
    const reply = await person.post("/spec/state", { files: true });
    const state = (await reply.json()) as { things: { kind: string; owner: string | null }[]; downloads: object };
    expect(state.things.filter(({ kind }) => ["bootstrap_package", "license_agreement"].includes(kind))).toMatchObject([
      { kind: "bootstrap_package", owner: "Ops" },
    ]);
    expect(Object.keys(state.downloads)).toEqual([digestOf(one)]);
    // The package of their team is theirs, the agreement is not.
    for (const [kind, sha256] of [
      ["license_agreement", digestOf(PDF)],
      ["bootstrap_package", digestOf(one)],
    ]) {
      const changes = [{ action: "create", kind, owner: null, name: "x.pkg", value: { sha256 } }];
      expect((await person.post("/spec/apply", { changes })).status, kind).toBe(403);
    }
  });

  it("that others change are drift, with who did it", async () => {
    const app = await start(engine);
    const dir = await folder();
    await applyIn(app, dir);
    app.clock.advance(60_000);
    expect((await app.delete("/bootstrap/0")).status).toBe(200);
    const drift = await gitops(app, ["drift", ...(await mainFiles(dir)), "-o", "json"]);
    expect(JSON.parse(drift.stdout)).toMatchObject({
      things: [{ drift: "missing", kind: "bootstrap_package", name: "setup.pkg", changed_by: "Ada Admin" }],
    });
  });
});
