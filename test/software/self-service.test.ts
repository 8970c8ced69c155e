// What users of hosts see of the software that their team offers: categories and icons.
import { describe, expect, it } from "vitest";
import type { Package } from "../../src/api/software/packages.ts";
import type { SelfServiceCategory } from "../../src/api/software/self-service.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { iconForm, png } from "../support/icons.ts";
import { makeStoreApp } from "../support/license-service.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const CATEGORIES = "/software/self_service_categories";
const TOKEN = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";

const refusal = async (res: Response | Promise<Response>) => {
  const { status } = await res;
  const { errors } = await json<{ errors: { name: string; reason: string }[] }>(res);
  return [status, errors[0]!.name, errors[0]!.reason] as const;
};
async function upload(t: TestApp, fields: Record<string, string | readonly string[]> = {}, name = "tool.sh") {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields))
    for (const one of typeof value === "string" ? [value] : value) form.append(field, one);
  form.set("software", new File([`echo ${name}`], name));
  return (await json<{ software_package: Package }>(t.post("/software/package", form))).software_package;
}
async function create(t: Caller, name: string, team_id = 0): Promise<SelfServiceCategory> {
  const res = await t.post(CATEGORIES, { team_id, name });
  expect(res.status, await res.clone().text()).toBe(200);
  return (await json<{ self_service_category: SelfServiceCategory }>(res)).self_service_category;
}
const names = async (t: Caller, team = 0, more = "") =>
  (
    await json<{ self_service_categories: SelfServiceCategory[] }>(t.get(`${CATEGORIES}?team_id=${team}${more}`))
  ).self_service_categories.map(({ name }) => name);
const packageOf = async (t: Caller, titleId: number, team = 0) =>
  (
    await json<{ software_title: { software_package: Package; icon_url: string | null } }>(
      t.get(`/software/titles/${titleId}?team_id=${team}`),
    )
  ).software_title;
const withToken = async (t: TestApp, team_id: number | null) => {
  const host = await makeHost(t, { team_id });
  await t.store.deviceTokens.insert({ id: host.id, token_hash: tokenHash(TOKEN), updated_at: t.clock.iso() });
  return host;
};
const activities = async (t: TestApp) =>
  (await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] })).map(({ type, details }) => ({
    type,
    details: details as Record<string, unknown>,
  }));

describe.each(bothEngines)("self-service on %s", (engine) => {
  it("keeps categories for each team, and what is in them", async () => {
    const t = await startApp({ engine });
    const team = (await makeTeam(t, "Workstations")).id;
    const browsers = await create(t, " Browsers ", team);
    expect(browsers).toMatchObject({ name: "Browsers", team_id: team, created_at: t.clock.iso() });
    await create(t, "Tools", team);
    await create(t, "Browsers");
    expect(await names(t, team)).toEqual(["Browsers", "Tools"]);
    expect(await names(t)).toEqual(["Browsers"]);

    const made = await upload(t, { team_id: String(team), categories: ["BROWSERS", "New", "browsers"] });
    expect(made.categories).toEqual(["Browsers", "New"]);
    expect(await names(t, team)).toEqual(["Browsers", "New", "Tools"]);
    const app = await makeStoreApp(t, team);
    await t.patch(`/software/titles/${app.title_id}/app_store_app`, { team_id: team, categories: ["browsers"] });
    const elsewhere = await upload(t, { categories: "Browsers" });

    t.clock.advance(1000);
    const renamed = await t.patch(`${CATEGORIES}/${browsers.id}`, { name: "Web browsers" });
    expect(await json(renamed)).toEqual({
      self_service_category: { ...browsers, name: "Web browsers", updated_at: t.clock.iso() },
    });
    expect((await packageOf(t, made.title_id, team)).software_package.categories).toEqual(["Web browsers", "New"]);
    expect((await t.store.storeApps.get(app.id))!.categories).toEqual(["Web browsers"]);
    expect((await packageOf(t, elsewhere.title_id)).software_package.categories).toEqual(["Browsers"]);

    expect((await t.delete(`${CATEGORIES}/${browsers.id}`)).status).toBe(204);
    expect((await packageOf(t, made.title_id, team)).software_package.categories).toEqual(["New"]);
    expect((await t.store.storeApps.get(app.id))!.categories).toEqual([]);
    expect((await t.delete(`${CATEGORIES}/${browsers.id}`)).status).toBe(404);

    await t.delete(`/teams/${team}`);
    expect((await t.store.selfServiceCategories.list()).map(({ name }) => name)).toEqual(["Browsers"]);
  });

  it("creates a category once, whoever names it at the same time", async () => {
    const t = await startApp({ engine });
    const replies = await Promise.all(["Tools", "tools", "TOOLS"].map((name) => t.post(CATEGORIES, { name })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    await Promise.all(["a.sh", "b.sh", "c.sh"].map((name) => upload(t, { categories: "Editors" }, name)));
    expect(await t.store.selfServiceCategories.count()).toBe(2);
  });

  it("gives a title an icon of the team's, until that no longer offers it", async () => {
    const t = await startApp({ engine });
    const team = (await makeTeam(t, "Workstations")).id;
    const { title_id: id } = await upload(t, { team_id: String(team) });
    const path = `/software/titles/${id}/icon?team_id=${team}`;
    expect((await t.get(path)).status).toBe(404);

    const image = png(120);
    const set = await t.request("PUT", path, iconForm(image));
    expect(await json(set)).toEqual({ icon_url: `/api/latest/svc${path}` });
    const shown = await t.raw(`/api/latest/svc${path}`, { headers: { authorization: `Bearer ${t.token}` } });
    expect(shown.status).toBe(200);
    expect(shown.headers.get("content-type")).toBe("image/png");
    expect(shown.headers.get("content-disposition")).toBe("inline");
    expect(shown.headers.get("x-content-type-options")).toBe("nosniff");
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(image);
    expect((await packageOf(t, id, team)).icon_url).toBe(`/api/latest/svc${path}`);
    const list = await json<{ software_titles: { icon_url: string }[] }>(
      t.get(`/software/titles?team_id=${team}&available_for_install=true`),
    );
    expect(list.software_titles.map(({ icon_url }) => icon_url)).toEqual([`/api/latest/svc${path}`]);
    expect((await activities(t)).at(-1)).toMatchObject({
      type: "edited_software",
      details: { software_title_id: id, software_icon_url: `/api/latest/svc${path}`, team_id: team },
    });

    // An equal image changes nothing.
    const before = await t.store.activities.count();
    await t.request("PUT", path, iconForm(image));
    expect(await t.store.activities.count()).toBe(before);
    const other = png(1024);
    await t.request("PUT", path, iconForm(other));
    expect(Buffer.from(await (await t.get(path)).arrayBuffer())).toEqual(other);

    expect((await t.delete(path)).status).toBe(204);
    expect((await t.get(path)).status).toBe(404);
    expect((await t.delete(path)).status).toBe(404);
    await t.request("PUT", path, iconForm(image));
    await t.delete(`/software/titles/${id}/available_for_install?team_id=${team}`);
    expect((await activities(t)).at(-1)).toMatchObject({
      type: "deleted_software",
      details: { software_icon_url: `/api/latest/svc${path}` },
    });
    expect(await t.store.titleIcons.count()).toBe(0);
  });
});

describe.each(rulesEngines)("the rules of self-service on %s", (engine) => {
  it("refuses names that a team has, or that are none", async () => {
    const t = await startApp({ engine });
    const tools = await create(t, "Tools");
    await create(t, "Browsers");
    const taken = 'the category "Browsers" already exists';
    expect(await refusal(t.post(CATEGORIES, { name: "bROWSERS" }))).toEqual([409, "name", taken]);
    expect(await refusal(t.patch(`${CATEGORIES}/${tools.id}`, { name: "browsers" }))).toEqual([409, "name", taken]);
    expect((await t.patch(`${CATEGORIES}/${tools.id}`, { name: "TOOLS" })).status).toBe(200);
    expect(await names(t)).toEqual(["Browsers", "TOOLS"]);
    for (const name of ["", "  ", "a\nb", "x".repeat(256)])
      expect((await refusal(t.post(CATEGORIES, { name }))).slice(0, 2)).toEqual([422, "name"]);
    expect((await t.post(CATEGORIES, { name: "x".repeat(255) })).status).toBe(200);
    expect((await refusal(t.get(CATEGORIES))).slice(0, 2)).toEqual([400, "team_id"]);
    expect((await refusal(t.post(CATEGORIES, { name: "a", team_id: 99 }))).slice(0, 2)).toEqual([404, "team_id"]);
  });

  it("pages categories", async () => {
    const t = await startApp({ engine });
    for (const name of ["c", "a", "b"]) await create(t, name);
    const page = await json<{ self_service_categories: SelfServiceCategory[]; meta: object }>(
      t.get(`${CATEGORIES}?team_id=0&page=1&per_page=2&order_key=name&order_direction=desc`),
    );
    expect(page.self_service_categories.map(({ name }) => name)).toEqual(["a"]);
    expect(page.meta).toEqual({ has_next_results: false, has_previous_results: true });
  });

  it("lets admins and maintainers of the team change categories, and hides those of other teams", async () => {
    const t = await startApp({ engine });
    const [own, other] = [(await makeTeam(t)).id, (await makeTeam(t)).id];
    const mine = await create(t, "Mine", own);
    const foreign = await create(t, "Foreign", other);
    const maintainer = await makeUser(t, { teams: [{ id: own, role: "maintainer" }] });
    const technician = await makeUser(t, { teams: [{ id: own, role: "technician" }] });
    const gitops = await makeUser(t, { teams: [{ id: own, role: "gitops" }] }, { api_only: true });
    expect((await maintainer.patch(`${CATEGORIES}/${mine.id}`, { name: "Ours" })).status).toBe(200);
    expect((await maintainer.patch(`${CATEGORIES}/${foreign.id}`, { name: "Ours" })).status).toBe(404);
    expect((await maintainer.post(CATEGORIES, { team_id: other, name: "x" })).status).toBe(403);
    for (const one of [technician, gitops]) {
      expect(await names(one, own)).toEqual(["Ours"]);
      expect((await one.post(CATEGORIES, { team_id: own, name: "x" })).status).toBe(403);
      expect((await one.delete(`${CATEGORIES}/${mine.id}`)).status).toBe(403);
      expect((await one.get(`${CATEGORIES}?team_id=${other}`)).status).toBe(403);
    }
    expect((await (await startApp({ engine, tier: "free" })).get(`${CATEGORIES}?team_id=0`)).status).toBe(402);
  });

  it("has a limit of categories", async () => {
    const t = await startApp({ engine });
    const at = { created_at: t.clock.iso(), updated_at: t.clock.iso(), team_id: null };
    await t.store.selfServiceCategories.insertMany(
      Array.from({ length: 500 }, (_, i) => ({ ...at, name: `c${i}`, name_key: `c${i}` })),
    );
    expect((await refusal(t.post(CATEGORIES, { name: "one more" }))).slice(0, 2)).toEqual([422, "name"]);
    const { title_id } = await upload(t, { categories: "c7" });
    expect((await packageOf(t, title_id)).software_package.categories).toEqual(["c7"]);
    const change = { team_id: 0, categories: ["one more"] };
    expect((await refusal(t.patch(`/software/titles/${title_id}/package`, change))).slice(0, 2)).toEqual([
      422,
      "categories",
    ]);
  });

  it("takes square PNG images of 120 to 1024 pixels only", async () => {
    const t = await startApp({ engine });
    const { title_id } = await upload(t);
    const path = `/software/titles/${title_id}/icon?team_id=0`;
    const put = (icon: Uint8Array<ArrayBuffer> | null, fields = {}) => t.request("PUT", path, iconForm(icon, fields));
    for (const bad of [png(119), png(1025), png(128, 120), Buffer.from("<svg/>"), png(128).subarray(0, 60)])
      expect((await refusal(put(Buffer.from(bad)))).slice(0, 2)).toEqual([422, "icon"]);
    const damaged = png(128);
    damaged[20]! ^= 1;
    expect((await refusal(put(damaged)))[2]).toBe("must be a PNG image");
    expect((await refusal(put(Buffer.concat([png(128), Buffer.from("<script>")]))))[2]).toBe("must be a PNG image");
    expect((await refusal(put(Buffer.alloc(0))))[0]).toBe(422);
    expect((await put(Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
    expect((await refusal(put(null))).slice(0, 2)).toEqual([400, "icon"]);
    expect((await refusal(put(png(128), { hash_sha256: "0".repeat(64) }))).slice(0, 2)).toEqual([400, "icon"]);
    expect((await refusal(t.request("PUT", path.replace("?team_id=0", ""), iconForm(png(128))))).slice(0, 2)).toEqual([
      400,
      "team_id",
    ]);
    expect(await t.store.titleIcons.count()).toBe(0);
  });

  it("takes the digest of an icon that is stored, but of no other file", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await upload(t, {}, "a.sh"), await upload(t, {}, "b.sh")];
    const image = png(200);
    await t.request("PUT", `/software/titles/${a.title_id}/icon?team_id=0`, iconForm(image));
    const { sha256 } = (await t.store.files.get((await t.store.titleIcons.first({}))!.file_id))!;
    const path = `/software/titles/${b.title_id}/icon?team_id=0`;
    const put = (fields: Record<string, string>) => t.request("PUT", path, iconForm(null, fields));
    expect((await refusal(put({ hash_sha256: b.hash_sha256, filename: "b.png" }))).slice(0, 2)).toEqual([
      404,
      "hash_sha256",
    ]);
    expect((await refusal(put({ hash_sha256: sha256 }))).slice(0, 2)).toEqual([400, "filename"]);
    expect((await put({ hash_sha256: sha256.toUpperCase(), filename: "b.png" })).status).toBe(200);
    expect(Buffer.from(await (await t.get(path)).arrayBuffer())).toEqual(image);
    expect((await t.store.titleIcons.list()).map(({ file_name }) => file_name)).toEqual(["icon.png", "b.png"]);
  });

  it("sets icons of what the team offers only, and hides them from those who may not see packages", async () => {
    const t = await startApp({ engine });
    const team = (await makeTeam(t)).id;
    const { title_id } = await upload(t, { team_id: String(team) });
    const put = (id: number, of = team) =>
      t.request("PUT", `/software/titles/${id}/icon?team_id=${of}`, iconForm(png(120)));
    expect((await put(title_id, 0)).status).toBe(404);
    expect((await put(99)).status).toBe(404);
    expect(await t.store.titleIcons.count()).toBe(0);
    expect((await put(title_id)).status).toBe(200);
    const observer = await makeUser(t, { teams: [{ id: team, role: "observer" }] });
    expect((await observer.get(`/software/titles/${title_id}/icon?team_id=${team}`)).status).toBe(403);
  });

  it("redirects to the icon of the store, unless the team has its own", async () => {
    const t = await startApp({ engine });
    const app = await makeStoreApp(t, null);
    const path = `/software/titles/${app.title_id}/icon`;
    expect((await t.get(path)).status).toBe(404);
    const { adam_id, platform } = app;
    const listing = { adam_id, platform, name: "App", bundle_identifier: "b", version: "1", read_at: t.clock.iso() };
    await t.store.storeListings.insert({ ...listing, icon_url: "https://store.example.com/icon.png" });
    const reply = await t.get(path);
    expect(reply.status).toBe(302);
    expect(reply.headers.get("location")).toBe("https://store.example.com/icon.png");
    await t.store.storeListings.update({ where: everything, set: { icon_url: "javascript:alert(1)" } });
    expect((await t.get(path)).status).toBe(404);
    expect((await t.request("PUT", `${path}?team_id=0`, iconForm(png(120)))).status).toBe(200);
    expect((await t.get(path)).status).toBe(200);
    expect((await activities(t)).at(-1)).toMatchObject({
      type: "edited_app_store_app",
      details: { software_icon_url: `/api/latest/svc${path}?team_id=0` },
    });
  });

  it("shows the categories and icons of its own team to a host's user", async () => {
    const t = await startApp({ engine });
    const [own, other] = [(await makeTeam(t)).id, (await makeTeam(t)).id];
    await withToken(t, own);
    await create(t, "Mine", own);
    await create(t, "Foreign", other);
    const nobody = t.as(null);
    const seen = await json<{ self_service_categories: SelfServiceCategory[] }>(
      nobody.get(`/device/${TOKEN}${CATEGORIES}`),
    );
    expect(seen.self_service_categories.map(({ name }) => name)).toEqual(["Mine"]);

    const [mine, foreign] = [
      await upload(t, { team_id: String(own) }, "a.sh"),
      await upload(t, { team_id: String(other) }, "b.sh"),
    ];
    for (const { title_id, team_id } of [mine, foreign])
      await t.request("PUT", `/software/titles/${title_id}/icon?team_id=${team_id}`, iconForm(png(120)));
    const icon = await nobody.get(`/device/${TOKEN}/software/titles/${mine.title_id}/icon`);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await nobody.get(`/device/${TOKEN}/software/titles/${foreign.title_id}/icon`)).status).toBe(404);
    const wrong = "7c1e1c52-3a55-4b6e-8f0b-0d8a4c1d9e22";
    for (const path of [CATEGORIES, `/software/titles/${mine.title_id}/icon`])
      expect((await nobody.get(`/device/${wrong}${path}`)).status).toBe(401);
  });

  it("renames titles that have a bundle identifier", async () => {
    const t = await startApp({ engine });
    const app = { name: "app.app", source: "apps", bundle_identifier: "com.example.app", key: "k" };
    const { id } = await t.store.softwareTitles.insert(app);
    await t.store.softwareTitleCounts.insert({
      title_id: id,
      scope: -1,
      name: app.name,
      hosts_count: 1,
      versions_count: 1,
    });
    const reply = await t.patch(`/software/titles/${id}/name`, { name: " Editor " });
    expect([reply.status, await reply.text()]).toEqual([205, ""]);
    const list = await json<{ software_titles: { name: string }[] }>(t.get("/software/titles?query=edit"));
    expect(list.software_titles.map(({ name }) => name)).toEqual(["Editor"]);
    const { title_id } = await upload(t);
    expect((await refusal(t.patch(`/software/titles/${title_id}/name`, { name: "x" }))).slice(0, 2)).toEqual([
      422,
      "id",
    ]);
    expect((await refusal(t.patch(`/software/titles/${id}/name`, { name: " " }))).slice(0, 2)).toEqual([422, "name"]);
    expect((await refusal(t.patch(`/software/titles/${id}/name`, {}))).slice(0, 2)).toEqual([422, "name"]);
    expect((await t.patch("/software/titles/999/name", { name: "x" })).status).toBe(404);
    const maintainer = await makeUser(t, "maintainer");
    expect((await maintainer.patch(`/software/titles/${id}/name`, { name: "x" })).status).toBe(403);
  });
});
