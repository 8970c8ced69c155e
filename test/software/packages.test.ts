// Packages that teams offer: uploads, changes, downloads, and what titles show of them.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { LabelUses } from "../../src/api/hosts/label-effects.ts";
import type { Package } from "../../src/api/software/packages.ts";
import type { SoftwareTitle } from "../../src/api/software/software.ts";
import { minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { installersForHost } from "../../src/server/software/installers/hosts.ts";
import { counts } from "../../src/server/software/software/counts-job.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const TEXT = "#!/bin/sh\necho installed\n";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

type Fields = Readonly<Record<string, string | readonly string[]>>;
function form(fields: Fields = {}, text: string | null = TEXT, name = "tool.sh"): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields))
    for (const one of typeof value === "string" ? [value] : value) body.append(field, one);
  if (text !== null) body.set("software", new File([text], name));
  return body;
}
async function upload(t: TestApp, fields: Fields = {}, text = TEXT, name = "tool.sh"): Promise<Package> {
  const res = await t.post("/software/package", form(fields, text, name));
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { software_package: Package }).software_package;
}
const refusal = async (res: Response | Promise<Response>) => {
  const { status } = await res;
  const { errors } = await json<{ errors: { name: string; reason: string }[] }>(res);
  return [status, errors[0]!.name, errors[0]!.reason] as const;
};
const lastActivity = async (t: TestApp) => {
  const [entry] = await t.store.activities.list({ order: [{ column: "id", direction: "desc" }], limit: 1 });
  return { type: entry!.type, details: entry!.details };
};
const titles = async (t: TestApp, query: string) =>
  (await json<{ software_titles: SoftwareTitle[] }>(t.get(`/software/titles?${query}`))).software_titles;
const titleOf = async (t: TestApp, id: number, team = 0) =>
  (
    await json<{ software_title: { software_package: Package | null; packages: Package[] | null } }>(
      t.get(`/software/titles/${id}?team_id=${team}`),
    )
  ).software_title;

it.each([
  ["hello-xz.deb", { platform: "linux", version: "1:2.0-3" }, "svc-hello", "deb_packages", "apt-get install"],
  ["hello.rpm", { platform: "linux", version: "2.0" }, "svc-hello", "rpm_packages", "dnf"],
  ["hello.msi", { platform: "windows", version: "2.0.3" }, "Svc Hello", "programs", "msiexec"],
  ["hello.pkg", { platform: "darwin", version: "2.0.3" }, "Svc Hello", "apps", "installer -pkg"],
])("a file says itself what it is: %s", async (name, expected, title, source, command) => {
  const t = await startApp();
  const body = new FormData();
  body.set("software", new File([await readFile(`test/fixtures/packages/${name}`)], name));
  const res = await t.post("/software/package", body);
  expect(res.status, await res.clone().text()).toBe(200);
  const { software_package: made } = (await res.json()) as { software_package: Package };
  expect(made).toMatchObject({ ...expected, name, install_script: expect.stringContaining(command) });
  expect(made.uninstall_script).not.toBe("");
  const { name: titleName, source: titleSource } = (await titleOf(t, made.title_id)) as unknown as SoftwareTitle;
  expect([titleName, titleSource]).toEqual([title, source]);
});

it("needs scripts for what does not say how it is installed, and refuses what is not what it seems", async () => {
  const t = await startApp();
  const exe = new File([await readFile("test/fixtures/packages/hello.exe")], "hello.exe");
  const body = new FormData();
  body.set("software", exe);
  expect((await refusal(t.post("/software/package", body))).slice(0, 2)).toEqual([422, "install_script"]);
  const whole = new FormData();
  whole.set("install_script", "Start-Process $env:INSTALLER_PATH -Wait");
  whole.set("uninstall_script", "exit 0");
  whole.set("software", exe);
  expect((await t.post("/software/package", whole)).status).toBe(200);
  expect(await refusal(t.post("/software/package", form({}, "no package", "tool.deb")))).toEqual([
    422,
    "software",
    expect.stringContaining("Debian"),
  ]);
});

describe.each(bothEngines)("packages on %s", (engine) => {
  it("are uploaded, changed, downloaded and removed", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const added = await upload(t, { team_id: String(team.id), self_service: "true", categories: ["Tools", "Work"] });
    expect(added).toMatchObject({
      team_id: team.id,
      name: "tool.sh",
      platform: "linux",
      install_script: TEXT,
      uninstall_script: "",
      hash_sha256: sha256(TEXT),
      self_service: true,
      categories: ["Tools", "Work"],
      status: { installed: 0, pending_install: 0, failed_install: 0, pending_uninstall: 0, failed_uninstall: 0 },
      automatic_install_policies: null,
      labels_include_any: null,
    });
    const { title_id } = added;
    const common = { software_title: "tool", team_id: team.id, team_name: team.name };
    expect(await lastActivity(t)).toEqual({
      type: "added_software",
      details: { ...common, software_title_id: title_id, software_package: "tool.sh", self_service: true },
    });
    expect(await refusal(t.post("/software/package", form({ team_id: String(team.id) })))).toEqual([
      409,
      "base",
      expect.stringContaining("already"),
    ]);
    expect((await upload(t)).title_id, "another team may offer the same title").toBe(title_id);

    const path = `/software/titles/${title_id}/package`;
    const next = "#!/bin/sh\necho newer\n";
    const changed = await json<{ software_installer: Package }>(
      t.patch(path, form({ team_id: String(team.id), post_install_script: "echo done", categories: "" }, next)),
    );
    expect(changed.software_installer).toMatchObject({
      install_script: next,
      post_install_script: "echo done",
      hash_sha256: sha256(next),
      self_service: true,
      categories: null,
    });
    expect(await lastActivity(t)).toMatchObject({ type: "edited_software", details: common });
    const before = await t.store.activities.count();
    await t.patch(path, { team_id: team.id, self_service: true });
    expect(await t.store.activities.count(), "nothing has changed").toBe(before);

    const query = `?alt=media&team_id=${team.id}`;
    const whole = await t.get(`${path}${query}`);
    expect([await whole.text(), whole.headers.get("content-disposition")]).toEqual([
      next,
      expect.stringContaining("tool.sh"),
    ]);
    const part = await t.get(`${path}${query}`, { range: "bytes=2-8" });
    expect([part.status, await part.text()]).toEqual([206, next.slice(2, 9)]);

    expect((await t.get(`/software/package_hashes?sha256=${sha256(next)},${sha256(TEXT)}`)).status).toBe(200);
    expect((await t.get(`/software/package_hashes?sha256=${sha256(TEXT)}&team_name=${team.name}`)).status).toBe(404);
    expect((await t.get("/software/package_hashes?sha256=abc")).status).toBe(400);

    expect((await t.delete(`/software/titles/${title_id}/available_for_install?team_id=${team.id}`)).status).toBe(204);
    expect(await lastActivity(t)).toMatchObject({ type: "deleted_software", details: common });
    expect((await t.get(`${path}${query}`)).status).toBe(404);
    expect((await t.get(`${path}?alt=media&team_id=0`)).status).toBe(200);
  });

  it("are downloaded once with a token, within ten minutes", async () => {
    const t = await startApp({ engine });
    const { title_id } = await upload(t);
    const path = `/software/titles/${title_id}/package/token`;
    const tokenOf = async () => (await json<{ token: string }>(t.post(`${path}?alt=media&team_id=0`))).token;
    const open = (token: string, title = title_id) =>
      t.raw(`/api/latest/svc/software/titles/${title}/package/token/${token}?alt=media`);
    const token = await tokenOf();
    const [first, second] = await Promise.all([open(token), open(token)]);
    expect([first.status, second.status].sort()).toEqual([200, 404]);
    expect(await (first.status === 200 ? first : second).text()).toBe(TEXT);
    const late = await tokenOf();
    t.clock.advance(minutes(10));
    expect((await open(late)).status).toBe(404);
    expect((await open(await tokenOf(), title_id + 1)).status).toBe(404);
    expect((await open("unknown")).status).toBe(404);
  });

  it("are in titles and their lists, also before a host has them", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const own = await upload(t, { team_id: String(team.id), self_service: "true" });
    const other = await upload(t, { team_id: String(team.id) }, "echo 2", "second.sh");
    await upload(t, {}, "echo 3", "third.sh");
    const of = `team_id=${team.id}`;
    const names = async (query: string) => (await titles(t, query)).map(({ name }) => name);
    expect(await names(`${of}&available_for_install=true&order_key=name`)).toEqual(["second", "tool"]);
    expect(await names(`${of}&available_for_install=true&order_key=name&per_page=1&page=1`)).toEqual(["tool"]);
    expect(await names(`${of}&self_service=true`)).toEqual(["tool"]);
    expect(await names(`${of}&packages_only=true&query=seco`)).toEqual(["second"]);
    expect(await names(`${of}&hash_sha256=${own.hash_sha256}`)).toEqual(["tool"]);
    expect(await names(`${of}&package_name=second`)).toEqual(["second"]);
    expect(await names("available_for_install=true&order_key=name")).toEqual(["second", "third", "tool"]);
    expect((await t.get("/software/titles?package_name=second")).status).toBe(400);
    const [listed] = await titles(t, `${of}&self_service=true`);
    expect(listed).toMatchObject({
      hosts_count: 0,
      hash_sha256: own.hash_sha256,
      software_package: {
        name: "tool.sh",
        self_service: true,
        package_url: `/api/latest/svc/software/titles/${own.title_id}/package?alt=media&team_id=${team.id}`,
      },
    });
    expect((await titleOf(t, other.title_id, team.id)).software_package).toEqual(other);
    expect((await t.get(`/software/titles/${other.title_id}?team_id=0`)).status).toBe(404);
    t.clock.advance(minutes(60) * 24);
    for (let run = 0; run < 3; run++) await counts.run(t.services, new AbortController().signal);
    expect((await titleOf(t, own.title_id, team.id)).packages, "titles with packages are kept").toEqual([own]);
    await t.delete(`/teams/${team.id}`);
    expect(await t.store.softwareInstallers.count(eq("team_id", team.id))).toBe(0);
  });

  it("create a policy that installs them, and stay while it exists", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    expect(await refusal(t.post("/software/package", form({ automatic_install: "true" })))).toEqual([
      422,
      "automatic_install",
      expect.stringContaining(".sh"),
    ]);
    expect(await t.store.softwareInstallers.count(), "nothing of it is left").toBe(0);
    const { title_id } = await upload(t, { team_id: String(team.id) });
    // The package seems to be of a type whose installation can be asked for.
    await t.store.softwareInstallers.update({ where: eq("title_id", title_id), set: { kind: "deb" } });
    const path = `/software/titles/${title_id}/package`;
    const { software_installer } = await json<{ software_installer: Package }>(
      t.patch(path, form({ team_id: String(team.id), automatic_install: "true" }, null)),
    );
    const [policy] = software_installer.automatic_install_policies!;
    expect(policy).toMatchObject({ name: "[Install software] tool (deb)", type: "dynamic" });
    const found = await json<{ policy: object }>(t.get(`/teams/${team.id}/policies/${policy!.id}`));
    expect(found.policy).toMatchObject({
      platform: "linux",
      query:
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM deb_packages) OR EXISTS " +
        "(SELECT 1 FROM deb_packages WHERE name = 'tool' AND status LIKE '% ok installed');",
      install_software: { software_title_id: title_id },
    });
    const gone = `/software/titles/${title_id}/available_for_install?team_id=${team.id}`;
    expect(await refusal(t.delete(gone))).toEqual([409, "base", expect.stringContaining(policy!.name)]);
    await t.post(`/teams/${team.id}/policies/delete`, { ids: [policy!.id] });
    expect((await t.delete(gone)).status).toBe(204);
    const named = { name: "p", query: "SELECT 1", software_title_id: title_id };
    expect((await t.post(`/teams/${team.id}/policies`, named)).status, "nothing to install").toBe(400);
  });
});

describe.each(rulesEngines)("packages on %s", (engine) => {
  it("are for hosts of their team and platform that their labels select", async () => {
    const t = await startApp({ engine });
    const [label, other] = [await makeLabel(t, "Chosen"), await makeLabel(t, "Left out")];
    const fields = { labels_include_any: ["Chosen"] };
    const { title_id, labels_include_any } = await upload(t, fields);
    expect(labels_include_any).toEqual([{ id: label.id, name: "Chosen" }]);
    const linux = { platform: "ubuntu", platform_like: "debian", label_updated_at: t.clock.iso() };
    const inside = await makeHost(t, linux);
    const outside = await makeHost(t, linux);
    const windows = await makeHost(t, { ...linux, platform: "windows", platform_like: "" });
    for (const { id: host_id } of [inside, windows]) await t.store.labelMembers.insert({ host_id, label_id: label.id });
    const offered = async (host: typeof inside) => (await installersForHost(t.store, host))[0]?.title_id ?? null;
    const all = () => Promise.all([inside, outside, windows].map(offered));
    expect(await all()).toEqual([title_id, null, null]);
    expect((await installersForHost(t.store, inside)).map((one) => one.title_id)).toEqual([title_id]);
    expect(await installersForHost(t.store, outside)).toEqual([]);

    const path = `/software/titles/${title_id}/package`;
    await t.patch(path, { team_id: 0, labels_exclude_any: ["Left out"] });
    await t.store.labelMembers.insert({ host_id: inside.id, label_id: other.id });
    expect(await all()).toEqual([null, title_id, null]);
    expect(await refusal(t.delete(`/labels/id/${other.id}`))).toEqual([
      422,
      "base",
      'the label "Left out" is in use (foreign key) by package "tool"',
    ]);
    const { uses } = (await (await t.get(`/labels/${other.id}/uses`)).json()) as LabelUses;
    expect(uses).toMatchObject([
      { kind: "package", id: title_id, name: "tool", team_id: 0, as: "exclude_any", on_delete: "refused" },
    ]);
    // Earlier versions deleted labels of packages.
    await t.store.installerLabels.update({ where: eq("label_id", other.id), set: { label_id: null } });
    await t.delete(`/labels/id/${other.id}`);
    expect(await all(), "a deleted label selects no further host").toEqual([null, null, null]);
    expect((await titleOf(t, title_id)).software_package!.labels_exclude_any).toEqual([
      { name: "Left out", broken: true },
    ]);
    await t.patch(path, { team_id: 0, labels_exclude_any: [""] });
    expect(await all()).toEqual([title_id, title_id, null]);
    const both = form({ labels_include_any: "Chosen", labels_exclude_any: "Chosen" }, "echo 2", "second.sh");
    expect((await refusal(t.post("/software/package", both))).slice(0, 2)).toEqual([422, "labels_exclude_any"]);
    const unknown = form({ labels_include_any: "Unknown" }, "echo 2", "second.sh");
    expect((await refusal(t.post("/software/package", unknown))).slice(0, 2)).toEqual([400, "labels_include_any"]);
  });

  it("refuse what hosts could not install", async () => {
    const t = await startApp({ engine });
    const refused = async (fields: Fields, text = TEXT, name = "tool.sh") =>
      (await refusal(t.post("/software/package", form(fields, text, name)))).slice(0, 2);
    expect(await refused({}, "", "tool.sh")).toEqual([422, "software"]);
    expect(await refused({}, TEXT, "tool.zip")).toEqual([422, "software"]);
    expect(await refused({}, "#!/usr/bin/perl\n")).toEqual([422, "software"]);
    expect(await refused({ install_script: "echo" })).toEqual([422, "install_script"]);
    expect(await refused({ pre_install_query: "DELETE FROM a" })).toEqual([422, "pre_install_query"]);
    expect(await refused({ post_install_script: "echo $SVC_SECRET_MISSING" })).toEqual([422, "post_install_script"]);
    expect((await t.post("/software/package", form({}, null))).status).toBe(400);
    expect(await t.store.softwareInstallers.count()).toBe(0);
    const { title_id } = await upload(t);
    const path = `/software/titles/${title_id}/package`;
    expect((await refusal(t.patch(path, form({ team_id: "0" }, "echo", "tool.ps1")))).slice(0, 2)).toEqual([
      422,
      "software",
    ]);
    expect((await refusal(t.patch(path, form({ team_id: "0" }, "echo", "other.sh")))).slice(0, 2)).toEqual([
      422,
      "software",
    ]);
    expect((await t.patch(path, form({}, null))).status, "without a team").toBe(400);
    const inJson = await t.raw(`/api/latest/svc${path}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${t.token}`, "content-type": "application/json" },
      body: JSON.stringify({ team_id: 0, software: "AAAA" }),
    });
    expect((await refusal(inJson)).slice(0, 2)).toEqual([400, "software"]);
  });

  it("take encoded scripts, and keep the variables that scripts name", async () => {
    const t = await startApp({ engine });
    await t.post("/custom_variables", { name: "KEY", value: "value" });
    const encoded = (text: string) => Buffer.from(text).toString("base64");
    const send = (fields: Fields) =>
      t.request("POST", "/software/package", form(fields), { "X-Svc-Scripts-Encoded": "base64" });
    const script = "echo $SVC_SECRET_KEY\r\nexit 0";
    expect((await send({ post_install_script: "no base64 !" })).status).toBe(400);
    const { software_package } = await json<{ software_package: Package }>(
      send({ post_install_script: encoded(script), pre_install_query: encoded("SELECT 1") }),
    );
    expect(software_package).toMatchObject({
      post_install_script: "echo $SVC_SECRET_KEY\nexit 0",
      pre_install_query: "SELECT 1",
    });
    const { custom_variables } = await json<{ custom_variables: { id: number }[] }>(t.get("/custom_variables"));
    expect(await refusal(t.delete(`/custom_variables/${custom_variables[0]!.id}`))).toEqual([
      409,
      expect.any(String),
      expect.stringContaining('the package "tool.sh"'),
    ]);
  });

  it("are for those who manage the team, and for the premium tier", async () => {
    const t = await startApp({ engine });
    const [team, foreign] = [await makeTeam(t), await makeTeam(t)];
    const { title_id } = await upload(t, { team_id: String(team.id) });
    const download = (caller: Caller, id = team.id) =>
      caller.get(`/software/titles/${title_id}/package?alt=media&team_id=${id}`);
    const write = (caller: Caller, id = team.id) =>
      caller.patch(`/software/titles/${title_id}/package`, { team_id: id, self_service: true });
    for (const [role, reads, writes] of [
      ["admin", 200, 200],
      ["maintainer", 200, 200],
      ["gitops", 200, 200],
      ["technician", 200, 403],
      ["observer", 403, 403],
      ["observer_plus", 403, 403],
    ] as const)
      for (const global of [true, false]) {
        const caller = await makeUser(t, global ? role : { teams: [{ id: team.id, role }] });
        expect([(await download(caller)).status, (await write(caller)).status], role).toEqual([reads, writes]);
        if (!global) expect((await download(caller, foreign.id)).status).toBe(403);
      }
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect(
      (
        await json<{ software_titles: object[] }>(
          observer.get(`/software/titles?team_id=${team.id}&packages_only=true`),
        )
      ).software_titles,
    ).toEqual([]);
    const free = await startApp({ engine, tier: "free" });
    expect((await free.post("/software/package", form())).status).toBe(402);
    expect((await free.get(`/software/package_hashes?sha256=${sha256(TEXT)}`)).status).toBe(402);
  });
});
