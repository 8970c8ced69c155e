// Checks of selectors while they are typed: validity, counts and completions.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SelectorCheck } from "../../src/api/inventory/selectors.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeScene, type Scene } from "../support/hosts.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";

type Caller = Pick<TestApp, "post">;

describe.each(bothEngines)("POST /selectors/check on %s", (engine) => {
  let t: TestApp;
  let scene: Scene;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    scene = await makeScene(t);
    await makeTeam(t, "Secret lab");
    await makeLabel(t, "none", []);
    await makeLabel(t, 'say "hi"', []);
  });
  afterAll(() => t.close());

  async function check(where: string, more: { cursor?: number; team_id?: number } = {}, caller: Caller = t) {
    const res = await caller.post("/selectors/check", { where, ...more });
    expect(res.status, `${where}: ${await res.clone().text()}`).toBe(200);
    return (await res.json()) as SelectorCheck;
  }
  /** The selectors that the completions at | would result in. */
  async function completed(marked: string, caller: Caller = t): Promise<string[]> {
    const cursor = marked.indexOf("|");
    const where = marked.replace("|", "");
    const { completions } = await check(where, { cursor }, caller);
    return completions.map(({ text, from, to }) => `${where.slice(0, from)}${text}${where.slice(to)}`);
  }

  it("counts the hosts of a valid selector", async () => {
    expect(await check("platform = darwin and seen < 7d")).toMatchObject({ valid: true, error: null, count: 1 });
    expect(await check("")).toMatchObject({ valid: true, error: null, count: 5 });
    expect(await check("online", { team_id: scene.teamId })).toMatchObject({ valid: true, count: 1 });
    expect(await check("online", { team_id: 0 })).toMatchObject({ valid: true, count: 1 });
  });

  it.each([
    ["platfrm = darwin", 'there is no field "platfrm"; did you mean "platform"?', 0, 7],
    ["platform = ", "expected a value but found the end", 11, 0],
    ["platform = darwin and (seen < 7d", "expected ) but found the end", 32, 0],
    ['label = "On lo', 'the text that begins here has no closing "', 8, 6],
    ["status = maybe", '"maybe" is none of new, online, offline, mia, missing', 9, 5],
    ["memory ~ 16", "memory is a number: it takes =, !=, <, <=, >, >=, in and not in, not ~", 0, 6],
    ["label = Typo", 'there is no label "Typo"', 8, 4],
    ["platform = darwin ! x", "! is not understood", 18, 1],
  ])("%s is invalid, with the place of the error", async (where, message, position, length) => {
    expect(await check(where)).toMatchObject({ valid: false, error: { message, position, length }, count: null });
  });

  it("completes fields, operators and what connects conditions", async () => {
    expect(await completed("plat|")).toEqual(["platform", "platform_like"]);
    expect(await completed("|")).toEqual(
      expect.arrayContaining(["hostname", "software(", "not", "(", "policy.failing"]),
    );
    expect(await completed("platform |")).toEqual(
      ["=", "!=", "~", "in (", "not in ("].map((operator) => `platform ${operator}`),
    );
    expect(await completed("seen |")).toEqual(["<", "<=", ">", ">=", "=", "!="].map((operator) => `seen ${operator}`));
    expect(await completed("online |")).toEqual(expect.arrayContaining(["online and", "online or", "online ="]));
    expect(await completed("platform n|")).toEqual(["platform not in (", "platform in ("]);
    expect(await completed("platform !|")).toEqual(["platform !="]);
    expect(await completed("platform not |")).toEqual(["platform not in ("]);
    expect(await completed("platform = darwin |")).toEqual(["platform = darwin and", "platform = darwin or"]);
    expect(await completed("(platform = darwin |")).toContain("(platform = darwin )");
    expect(await completed("platform in (darwin |")).toEqual(["platform in (darwin ,", "platform in (darwin )"]);
    expect(await completed("software(ver|")).toEqual(["software(version"]);
    expect(await completed("software(version |")).toContain("software(version <");
    expect(await completed("software(name = Figma) |")).toEqual([
      "software(name = Figma) and",
      "software(name = Figma) or",
    ]);
    expect(await completed("plat|orm = darwin")).toEqual(["platform = darwin", "platform_like = darwin"]);
  });

  it("completes values, in quotes where the language needs them", async () => {
    expect(await completed("status = o|")).toEqual(["status = online", "status = offline"]);
    expect(await completed("platform in (darwin, win|")).toEqual([
      "platform in (darwin, windows",
      "platform in (darwin, darwin",
    ]);
    expect(await completed("team = |")).toEqual([
      "team = Lab",
      'team = "Secret lab"',
      'team = "No team"',
      "team = none",
    ]);
    expect(await completed("label = on l|")).toEqual([]);
    expect(await completed("label = 'On l|'")).toEqual(["label = 'On loan'"]);
    expect(await completed('label in (C, "On l|", X)')).toEqual(['label in (C, "On loan", X)']);
    expect(await completed("label = non|")).toEqual(['label = "none"', "label = none"]);
    expect(await completed("label = say|")).toEqual(['label = "say \\"hi\\""']);
    expect(await completed("label = üb|")).toEqual(["label = Über"]);
    expect(await completed("policy.failing = d|")).toContain('policy.failing = "Disk encrypted"');
    expect(await completed("hardware_model = Mac|")).toEqual(['hardware_model = "MacBook Pro"']);
    expect(await completed("seen < |")).toContain("seen < 7d");
    expect(await completed("online = t|")).toEqual(["online = true"]);
  });

  it("counts and names for users of a team only what they see", async () => {
    const { store } = t;
    const title = (await store.softwareTitles.first({ where: { op: "eq", column: "name", value: "Figma" } }))!;
    await store.softwareTitleCounts.insertMany([
      { scope: -1, title_id: title.id, name: "Figma", hosts_count: 1, versions_count: 1 },
      { scope: scene.teamId, title_id: title.id, name: "Figma", hosts_count: 1, versions_count: 1 },
    ]);
    const { token } = await makeUser(t, { teams: [{ id: scene.teamId, role: "observer" }] });
    const observer = t.as(token);
    expect(await check("", {}, observer)).toMatchObject({ count: 2 });
    expect(await check("not online", {}, observer)).toMatchObject({ count: 1 });
    expect(await completed("team = |", observer)).toEqual(["team = Lab", 'team = "No team"', "team = none"]);
    expect(await check('team = "Secret lab"', {}, observer)).toMatchObject({
      valid: false,
      error: { message: expect.stringContaining('there is no team "Secret lab"') },
    });
    expect(await completed("software.name ~ fig|", observer)).toEqual(["software.name ~ Figma"]);
    expect((await observer.post("/selectors/check", { where: "online", team_id: 0 })).status).toBe(403);
    const other = await makeTeam(t, "Other");
    const { token: stranger } = await makeUser(t, { teams: [{ id: other.id, role: "observer" }] });
    expect(await completed("software.name ~ fig|", t.as(stranger))).toEqual([]);
    expect(await completed("policy.failing = fire|", t.as(stranger))).toEqual([]);
    expect(await check("online", {}, t.as(stranger))).toMatchObject({ count: 0 });
  });

  it("refuses a cursor after the end, long selectors and unknown keys", async () => {
    expect((await t.post("/selectors/check", { where: "online", cursor: 7 })).status).toBe(422);
    expect((await t.post("/selectors/check", { where: "a".repeat(4097) })).status).toBe(422);
    expect((await t.post("/selectors/check", { where: "online", curser: 1 })).status).toBe(400);
    expect((await t.post("/selectors/check", {})).status).toBe(422);
  });

  it("answers for every prefix of a long selector", async () => {
    const long = `platform in (darwin, "windows") and not software(name ~ 'x' and version >= 1.2) or (team = "Lab" and seen < 7d)`;
    for (let end = 0; end <= long.length; end += 3) await check(long.slice(0, end));
  });
});
