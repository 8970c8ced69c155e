// What the user of a host installs and asks for from its own page, with the device token.
import { describe, expect, it } from "vitest";
import type { Package } from "../../src/api/software/packages.ts";
import type { HostSoftwareItem } from "../../src/api/software/software.ts";
import { minutes } from "../../src/server/platform/core/clock.ts";
import { eq, everything } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { iconForm, png } from "../support/icons.ts";
import { makeTeam } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";
import { json } from "../support/replies.ts";
import { WebVisitor } from "../support/web.ts";

const TOKEN = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
const device = `/device/${TOKEN}`;

const refusal = async (res: Response | Promise<Response>) => {
  const { errors } = await json<{ errors: { name: string; reason: string }[] }>(res);
  return [(await res).status, errors[0]!.reason] as const;
};
async function upload(t: TestApp, name: string, fields: Record<string, string> = {}): Promise<Package> {
  const body = new FormData();
  const all = { self_service: "true", uninstall_script: "#!/bin/sh\necho removed\n", ...fields };
  for (const [field, value] of Object.entries(all)) body.append(field, value);
  body.set("software", new File([`#!/bin/sh\necho ${name}\n`], name));
  return (await json<{ software_package: Package }>(t.post("/software/package", body))).software_package;
}
/** A host whose user has its token. */
async function owner(t: TestApp) {
  const agent = await makeManaged(t);
  expect((await agent.call("/device_token", { device_auth_token: TOKEN })).json).toEqual({});
  return { agent, host: await agent.host(), nobody: t.as(null) };
}
const offered = async (t: TestApp): Promise<HostSoftwareItem[]> =>
  (await json<{ software: HostSoftwareItem[] }>(t.as(null).get(`${device}/software?self_service=true`))).software;
const feed = async (t: TestApp, type: string) => t.store.activities.list({ where: eq("type", type) });

describe.each(bothEngines)("self-service of a host's user on %s", (engine) => {
  it("installs and removes what is offered, and shows the results", async () => {
    const t = await startApp({ engine });
    const { agent, nobody } = await owner(t);
    expect(await json(nobody.get(device))).toMatchObject({ self_service: false });
    const tool = await upload(t, "tool.sh", { categories: "Tools" });
    const hidden = await upload(t, "hidden.sh", { self_service: "false" });
    expect(await json(nobody.get(device))).toMatchObject({ self_service: true, host: { self_service: true } });
    expect(await json(nobody.get(`${device}/desktop`))).toMatchObject({ self_service: true });
    expect((await offered(t)).map(({ id }) => id)).toEqual([tool.title_id]);

    const install = (id: number) => nobody.post(`${device}/software/install/${id}`);
    expect(await refusal(install(hidden.title_id))).toEqual([400, "the software is not offered to users of hosts"]);
    expect((await refusal(install(99)))[0]).toBe(400);
    expect((await install(tool.title_id)).status).toBe(202);
    expect((await refusal(install(tool.title_id)))[0]).toBe(400);
    const [item] = await offered(t);
    expect(item!.status).toBe("pending_install");
    const { install_uuid } = item!.software_package!.last_install!;
    const result = `${device}/software/install/${install_uuid}/results`;
    expect(await json(nobody.get(result))).toMatchObject({ status: "pending_install", self_service: true });

    await agent.call("/software_install/details", { install_uuid });
    const answer = { install_script_exit_code: 0, install_script_output: "done", pre_install_condition_output: null };
    await agent.call("/software_install/result", {
      ...answer,
      install_uuid,
      post_install_script_exit_code: null,
      post_install_script_output: null,
    });
    expect(await json(nobody.get(result))).toMatchObject({ status: "installed", output: "done" });
    const [recorded] = await feed(t, "installed_software");
    expect(recorded).toMatchObject({ actor_id: null, details: { self_service: true, install_uuid } });

    expect((await nobody.post(`${device}/software/uninstall/${hidden.title_id}`)).status).toBe(400);
    expect((await nobody.post(`${device}/software/uninstall/${tool.title_id}`)).status).toBe(202);
    const { script_execution_id } = (await offered(t))[0]!.software_package!.last_uninstall!;
    expect(await json(nobody.get(`${device}/software/uninstall/${script_execution_id}/results`))).toMatchObject({
      execution_id: script_execution_id,
      exit_code: null,
    });
    // Each result has its own address.
    expect((await nobody.get(`${device}/software/uninstall/${install_uuid}/results`)).status).toBe(404);
    expect((await nobody.get(`${device}/software/install/${script_execution_id}/results`)).status).toBe(404);
  });

  it("sends the webhook of the migration once within minutes", async () => {
    const t = await startApp({ engine });
    const { host, nobody } = await owner(t);
    const ask = () => nobody.post(`${device}/migrate_mdm`);
    expect((await ask()).status).toBe(400);
    await turnOnAppleMdm(t);
    await t.store.hosts.update({ where: everything, set: { platform: "darwin", hardware_serial: "C02" } });
    expect((await refusal(ask()))[1]).toContain("turned off");
    const url = "https://hooks.example.com/migrate";
    const macos_migration = { enable: true, mode: "voluntary", webhook_url: url };
    expect((await t.patch("/config", { mdm: { macos_migration } })).status).toBe(200);
    expect((await refusal(ask()))[1]).toContain("no other product manages this host");
    expect(await t.store.outbox.count()).toBe(0);

    await t.store.hostMdm.insert({ id: host.id, enrollment_status: "On (manual)", connected_to_svc: false });
    expect(await json(nobody.get(`${device}/desktop`))).toMatchObject({
      notifications: { needs_mdm_migration: true, renew_enrollment_profile: false },
      config: { mdm: { macos_migration: { mode: "voluntary" } } },
    });
    for (const reply of [await ask(), await ask()]) expect(reply.status).toBe(204);
    const [sent, ...more] = await t.store.outbox.list();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ event: "mdm_migration", url });
    expect(sent!.payload).toEqual({
      timestamp: t.clock.iso(),
      host: { id: host.id, uuid: host.uuid, hardware_serial: "C02" },
    });
    t.clock.advance(minutes(3));
    await ask();
    expect(await t.store.outbox.count()).toBe(2);
    await t.store.hostMdm.update({ where: everything, set: { connected_to_svc: true } });
    expect((await ask()).status).toBe(400);
  });
});

describe.each(rulesEngines)("the rules of a host's own page on %s", (engine) => {
  it("installs everything that is missing, or what is in a category or has a name", async () => {
    const t = await startApp({ engine });
    const { host, nobody } = await owner(t);
    const team = await makeTeam(t);
    const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    const foreign = await t.store.selfServiceCategories.insert({ ...at, team_id: team.id, name: "A", name_key: "a" });
    for (const name of ["a.sh", "b.sh", "c.sh"]) await upload(t, name, name === "b.sh" ? { categories: "Tools" } : {});
    const hidden = await upload(t, "hidden.sh", { self_service: "false" });
    const { id } = (await t.store.selfServiceCategories.first({ where: eq("name", "Tools") }))!;
    const all = (query = "") => nobody.post(`${device}/software/install_all${query}`);
    const statuses = async () => (await offered(t)).map(({ name, status }) => `${name} ${status}`);
    expect((await refusal(all(`?category_id=${foreign.id}`)))[0]).toBe(404);
    expect((await all("?query=nothing")).status).toBe(202);
    expect(await feed(t, "installed_all_self_service_software")).toEqual([]);
    expect((await all(`?category_id=${id}`)).status).toBe(202);
    expect(await statuses()).toEqual(["a null", "b pending_install", "c null"]);
    expect((await all("?query=A")).status).toBe(202);
    expect((await all()).status).toBe(202);
    expect(await statuses()).toEqual(["a pending_install", "b pending_install", "c pending_install"]);
    expect(await t.store.softwareInstallRuns.count(eq("title_id", hidden.title_id))).toBe(0);
    const entries = await feed(t, "installed_all_self_service_software");
    expect(entries.map(({ actor_id, details }) => [actor_id, details])).toEqual([
      [
        null,
        expect.objectContaining({ host_id: host.id, self_service_category_name: "Tools", software_titles_count: 1 }),
      ],
      [null, expect.objectContaining({ self_service_category_id: null, software_titles_count: 1 })],
      [null, expect.objectContaining({ software_titles_count: 1 })],
    ]);
  });

  it("shows results of the own host only, and no commands but those of store apps", async () => {
    const t = await startApp({ engine });
    const { nobody } = await owner(t);
    const tool = await upload(t, "tool.sh");
    const other = await makeManaged(t, { uuid: "other" });
    const { id } = await other.host();
    expect((await t.post(`/hosts/${id}/software/${tool.title_id}/install`)).status).toBe(202);
    const run = (await t.store.softwareInstallRuns.first({}))!;
    expect((await nobody.get(`${device}/software/install/${run.uuid}/results`)).status).toBe(404);
    expect((await nobody.get(`${device}/software/commands/${run.uuid}/results`)).status).toBe(400);
    await turnOnAppleMdm(t);
    expect((await nobody.get(`${device}/software/commands/${run.uuid}/results`)).status).toBe(404);
    const wrong = "/device/7c1e1c52-3a55-4b6e-8f0b-0d8a4c1d9e22";
    for (const path of [`/software/install/${tool.title_id}`, "/software/install_all", "/migrate_mdm"])
      expect((await nobody.post(`${wrong}${path}`)).status, path).toBe(401);
  });

  it("shows icons at an address that the token opens, and the page that is set for transparency", async () => {
    const t = await startApp({ engine });
    const { nobody } = await owner(t);
    const { title_id } = await upload(t, "tool.sh");
    await t.request("PUT", `/software/titles/${title_id}/icon?team_id=0`, iconForm(png(120)));
    const { icon_url } = (await offered(t))[0]!;
    expect(icon_url).toBe(`/api/latest/svc${device}/software/titles/${title_id}/icon`);
    expect((await t.raw(icon_url!)).status).toBe(200);
    await t.patch("/config", { svc_desktop: { transparency_url: "https://example.com/what-we-see" } });
    expect((await nobody.get(`${device}/transparency`)).headers.get("location")).toBe(
      "https://example.com/what-we-see",
    );
  });

  it("shows titles by the name and the icon that the team has given them", async () => {
    const t = await startApp({ engine });
    const { host } = await owner(t);
    const { title_id } = await upload(t, "setupw1.sh");
    await upload(t, "plain.sh");
    const form = new FormData();
    for (const [name, value] of Object.entries({ team_id: "0", display_name: "Wide <Writer>" })) form.set(name, value);
    expect((await t.request("PATCH", `/software/titles/${title_id}/package`, form)).status).toBe(200);
    await t.request("PUT", `/software/titles/${title_id}/icon?team_id=0`, iconForm(png(120)));
    expect((await offered(t)).map(({ name, display_name }) => [name, display_name])).toEqual([
      ["plain", ""],
      ["setupw1", "Wide <Writer>"],
    ]);
    const found = async (query: string) =>
      (
        await json<{ software: HostSoftwareItem[] }>(
          t.get(`/hosts/${host.id}/software?available_for_install=true&query=${query}`),
        )
      ).software.map(({ id, display_name }) => [id, display_name]);
    expect(await found("wide")).toEqual([[title_id, "Wide <Writer>"]]);
    expect(await found("SETUPW")).toEqual([[title_id, "Wide <Writer>"]]);

    const visitor = new WebVisitor(t);
    const shown = (await visitor.get(device)).text;
    expect(shown).toContain("Wide &lt;Writer&gt;</th>");
    expect(shown).toContain('aria-label="Install Wide &lt;Writer&gt;"');
    expect(shown).not.toContain("setupw1");
    const [, icon, ...others] = [...shown.matchAll(/<img class="icon" src="([^"]*)"/g)].flat();
    expect(others, "of the title that has one").toEqual([]);
    const picture = await t.raw(icon!);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);

    await visitor.post(`${device}/software/install/${title_id}`);
    const page = (await visitor.get(device)).text;
    expect(page.match(/Wide &lt;Writer&gt;/g)!.length, "in both lists").toBeGreaterThanOrEqual(2);
    expect(page).not.toContain("setupw1");
  });

  it("has buttons for what is offered, by category", async () => {
    const t = await startApp({ engine });
    await owner(t);
    const { title_id } = await upload(t, "tool.sh", { categories: "<Tools>" });
    const visitor = new WebVisitor(t);
    const { text } = await visitor.get(device);
    expect(text).toContain("&lt;Tools&gt;");
    expect(text).toContain(`action="${device}/software/install/${title_id}"`);
    const asked = await visitor.post(`${device}/software/install/${title_id}`);
    expect([asked.status, asked.location]).toEqual([303, `${device}?status=installing`]);
    const after = (await visitor.get(`${device}?status=installing`)).text;
    expect(after).toContain("will be installed");
    expect(after).not.toContain(`action="${device}/software/install/${title_id}"`);
    expect((await visitor.postRaw(`${device}/software/install/${title_id}`, {})).status).toBe(403);
  });
});
