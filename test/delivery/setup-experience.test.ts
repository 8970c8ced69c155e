// The software and the script that hosts get during their setup.
import { describe, expect, it } from "vitest";
import type { SetupTitle } from "../../src/api/delivery/setup-experience.ts";
import type { Package } from "../../src/api/software/packages.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeStoreApp } from "../support/license-service.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const refusal = async (res: Response | Promise<Response>) => {
  const { status } = await res;
  const { errors } = await json<{ errors: { name: string; reason: string }[] }>(res);
  return [status, errors[0]!.name, errors[0]!.reason] as const;
};
/** A package that is a script. Returns the id of its title. */
async function offer(t: TestApp, name: string, team = 0): Promise<number> {
  const body = new FormData();
  body.set("team_id", String(team));
  body.set("software", new File([`echo ${name}`], name));
  const res = await t.post("/software/package", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { software_package: Package }).software_package.title_id;
}
const choose = (t: Caller, ids: readonly number[], more: object = {}, query = "") =>
  t.request("PUT", `/setup_experience/software${query}`, { software_title_ids: ids, ...more });
const list = async (t: Caller, query = "") =>
  (await json<{ software_titles: SetupTitle[] }>(t.get(`/setup_experience/software?${query}`))).software_titles;
const chosen = (titles: readonly SetupTitle[]) =>
  titles
    .filter((title) => (title.software_package ?? title.app_store_app)!.install_during_setup)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
const addScript = (t: Caller, team = 0, name = "setup.sh", text = "echo setup") => {
  const body = new FormData();
  body.set("team_id", String(team));
  body.set("script", new File([text], name));
  return t.post("/setup_experience/script", body);
};
const entries = async (t: TestApp) =>
  (await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] }))
    .map(({ type, details }) => ({ type, details }))
    .filter(({ type }) => /setup|script/.test(type));

describe.each(bothEngines)("the software of a setup on %s", (engine) => {
  it("is listed in the order in which hosts install it, unless another order is asked for", async () => {
    const t = await startApp({ engine });
    const ids: number[] = [];
    for (const name of ["a.sh", "b.sh", "c.sh", "d.sh"]) ids.push(await offer(t, name));
    const [a, b, c, d] = ids as [number, number, number, number];
    const listed = async (query = "") => (await list(t, `platform=linux${query}`)).map(({ id }) => id);
    await choose(t, [c, a], { platform: "linux" });
    expect(await listed()).toEqual([c, a, b, d]);
    await choose(t, [a, c], { platform: "linux" });
    expect(await listed()).toEqual([a, c, b, d]);
    await choose(t, [d, b], { platform: "linux" });
    expect(await listed("&per_page=2")).toEqual([d, b]);
    expect(await listed("&per_page=2&page=1")).toEqual([a, c]);
    expect(await listed("&order_key=name")).toEqual([a, b, c, d]);
  });

  it("is chosen for each platform, and titles left out are unset", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const [a, b, w] = [
      await offer(t, "a.sh", team.id),
      await offer(t, "b.sh", team.id),
      await offer(t, "w.ps1", team.id),
    ];
    const other = await offer(t, "a.sh");
    const app = await makeStoreApp(t, team.id, { platform: "darwin" });
    const of = `team_id=${team.id}`;
    expect((await list(t, of)).map(({ id }) => id).sort()).toEqual([a, b, app.title_id].sort());
    expect((await list(t, `${of}&platform=windows`)).map(({ id }) => id)).toEqual([w]);
    expect((await list(t, `${of}&platform=windows, linux`)).map(({ id }) => id).sort()).toEqual([a, b, w].sort());
    expect(await list(t, `${of}&platform=android`)).toEqual([]);
    expect(chosen(await list(t, of))).toEqual([]);

    const given = { team_id: team.id, platform: "macos" };
    const set = await choose(t, [b, app.title_id], given);
    expect([set.status, await set.json()]).toEqual([200, {}]);
    expect((await choose(t, [a, b], { team_id: team.id }, "?platform=linux")).status).toBe(200);
    expect(chosen(await list(t, of))).toEqual([b, app.title_id].sort((x, y) => x - y));
    expect(chosen(await list(t, `${of}&platform=linux`))).toEqual([a, b].sort((x, y) => x - y));
    // Choosing equal software again changes nothing; another order does.
    await choose(t, [a, b], { team_id: team.id, platform: "linux" });
    await choose(t, [b, a], { team_id: team.id, platform: "linux" });
    await choose(t, [], {}, `?platform=darwin&team_id=${team.id}`);
    expect(chosen(await list(t, of))).toEqual([]);
    expect(chosen(await list(t, `${of}&platform=linux`))).toEqual([a, b].sort((x, y) => x - y));
    const edited = (platform: string) => ({
      type: "edited_setup_experience_software",
      details: { platform, team_id: team.id, team_name: team.name },
    });
    expect(await entries(t)).toEqual(["darwin", "linux", "linux", "darwin"].map(edited));
    expect(await list(t)).toHaveLength(1);
    expect((await choose(t, [other])).status).toBe(200);
    expect((await entries(t)).at(-1)).toEqual({
      type: "edited_setup_experience_software",
      details: { platform: "darwin", team_id: 0, team_name: "" },
    });
  });

  it("cannot be deleted before it is left out", async () => {
    const t = await startApp({ engine });
    const id = await offer(t, "a.sh");
    const { title_id: app } = await makeStoreApp(t, null, { platform: "darwin" });
    await choose(t, [id, app], { platform: "darwin" });
    const remove = (title: number) => t.request("DELETE", `/software/titles/${title}/available_for_install?team_id=0`);
    for (const [title, what] of [
      [id, "package"],
      [app, "app"],
    ] as const)
      expect(await refusal(remove(title))).toEqual([
        409,
        "base",
        `hosts install the ${what} during their setup: leave it out there first`,
      ]);
    await choose(t, [], { platform: "darwin" });
    for (const title of [id, app]) expect((await remove(title)).status).toBe(204);
  });

  it("has to be offered by the team for the platform", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const [mine, theirs] = [await offer(t, "mine.sh", team.id), await offer(t, "w.ps1")];
    const body = { team_id: team.id, platform: "macos" };
    for (const id of [theirs, 999_999])
      expect((await refusal(choose(t, [mine, id], body))).slice(0, 2)).toEqual([422, "software_title_ids"]);
    expect(chosen(await list(t, `team_id=${team.id}`))).toEqual([]);
    expect((await refusal(choose(t, [mine], body, "?platform=linux")))[1]).toBe("platform");
    expect((await choose(t, [mine], { ...body, platform: "amiga" })).status).toBe(422);
    expect((await t.get("/setup_experience/software?platform=amiga")).status).toBe(400);
    expect((await choose(t, [], { team_id: 999 })).status).toBe(404);
    const observer = await makeUser(t, "observer");
    expect((await choose(observer, [])).status).toBe(403);
    expect((await observer.get("/setup_experience/software")).status).toBe(403);
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await choose(maintainer, [mine], body)).status).toBe(200);
    expect((await choose(maintainer, [])).status).toBe(403);
  });
});

describe.each(bothEngines)("the script of a setup on %s", (engine) => {
  it("is one for each team", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    expect((await t.get("/setup_experience/script")).status).toBe(404);
    const added = await addScript(t, team.id);
    expect([added.status, await added.json()]).toEqual([200, {}]);
    expect(await refusal(addScript(t, team.id))).toEqual([409, "base", expect.stringContaining("already")]);
    const many = await Promise.all([addScript(t), addScript(t, 0, "setup.ps1")]);
    expect(many.map(({ status }) => status).sort()).toEqual([200, 409]);
    const path = `/setup_experience/script?team_id=${team.id}`;
    const now = t.clock.iso();
    expect(await json(t.get(path))).toEqual({
      id: expect.any(Number),
      team_id: team.id,
      name: "setup.sh",
      created_at: now,
      updated_at: now,
    });
    const file = await t.get(`${path}&alt=media`);
    expect([await file.text(), file.headers.get("content-disposition")]).toEqual([
      "echo setup",
      expect.stringContaining("setup.sh"),
    ]);
    expect((await t.delete(path)).status).toBe(200);
    expect((await t.delete(path)).status).toBe(404);
    const details = { script_name: "setup.sh", team_id: team.id, team_name: team.name };
    expect((await entries(t)).filter((one) => one.details?.team_id === team.id)).toEqual([
      { type: "added_script", details },
      { type: "deleted_script", details },
    ]);
    await addScript(t, team.id);
    await t.delete(`/teams/${team.id}`);
    expect(await t.store.setupScripts.count()).toBe(1);
  });
});

it("a setup script is a text that hosts can run, and its variables exist and stay", async () => {
  const t = await startApp();
  expect((await refusal(addScript(t, 0, "setup.exe")))[1]).toBe("script");
  expect((await refusal(addScript(t, 0, "setup.sh", "\0")))[1]).toBe("script");
  expect((await refusal(addScript(t, 0, "setup.sh", "echo $SVC_SECRET_KEY")))[1]).toBe("script");
  expect((await addScript(t, 999)).status).toBe(404);
  await t.post("/custom_variables", { name: "KEY", value: "k" });
  expect((await addScript(t, 0, "setup.sh", "echo $SVC_SECRET_KEY")).status).toBe(200);
  const [{ id } = { id: 0 }] = await t.store.customVariables.list({});
  expect(await refusal(t.delete(`/custom_variables/${id}`))).toEqual([
    409,
    "base",
    expect.stringContaining("setup script"),
  ]);
});

it("the free tier has no setup", async () => {
  const t = await startApp({ tier: "free" });
  expect((await t.get("/setup_experience/script")).status).toBe(402);
  expect((await choose(t, [])).status).toBe(402);
});
