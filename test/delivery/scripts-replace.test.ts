// All saved scripts of a team at once: by POST /scripts/batch, and as configuration.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { applied, change, policy, refused, stateOf, thingValue } from "../support/configuration.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makePolicy, makeTeam } from "../support/make.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const item = (name: string, text = "echo\n") => ({ name, script_contents: base64(text) });
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const filesOf = (...texts: string[]) => Object.fromEntries(texts.map((text) => [sha256(text), base64(text)]));
const replace = (t: TestApp, scripts: object[], query = "") => t.post(`/scripts/batch${query}`, { scripts });
const textsOf = async ({ store }: TestApp) => {
  const contents = new Map((await store.scriptTexts.list()).map(({ id, content }) => [id, content]));
  const rows = await store.scripts.list({ order: [{ column: "name", direction: "asc" }] });
  return rows.map(({ team_id, name, text_id }) => [team_id, name, contents.get(text_id)]);
};
const edits = ({ store }: TestApp) => store.activities.list({ where: eq("type", "edited_script") });
const refusalOf = async (response: Promise<Response>) => {
  const { status } = await response;
  const { errors } = (await (await response).json()) as { errors: { name: string; reason: string }[] };
  return [status, errors[0]!.name, errors[0]!.reason];
};

describe.each(bothEngines)("replacing scripts on %s", (engine) => {
  it("keeps what is in the list by name, and deletes the rest, of one team alone", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Ops");
    await replace(t, [item("other.sh")]);
    const first = await replace(t, [item("a.sh"), item("b.py", "print(1)\r\n")], `?team_id=${team.id}`);
    const { scripts } = (await first.json()) as { scripts: { id: number; name: string; team_id: number }[] };
    expect(scripts).toEqual([
      { id: expect.any(Number), name: "a.sh", team_id: team.id },
      { id: expect.any(Number), name: "b.py", team_id: team.id },
    ]);
    const second = await replace(t, [item("b.py", "print(2)"), item("c.ps1")], "?team_name=Ops");
    const after = (await second.json()) as { scripts: { id: number }[] };
    expect(after.scripts[0]!.id, "the same script").toBe(scripts[1]!.id);
    expect(await textsOf(t)).toEqual([
      [team.id, "b.py", "print(2)"],
      [team.id, "c.ps1", "echo\n"],
      [null, "other.sh", "echo\n"],
    ]);
    expect(await edits(t)).toHaveLength(3);
    await replace(t, [item("c.ps1"), item("b.py", "print(2)")], "?team_name=Ops");
    expect(await edits(t), "nothing has changed").toHaveLength(3);
    expect((await edits(t))[1]!.details).toEqual({ team_id: team.id, team_name: "Ops" });
    const dry = await replace(t, [], "?team_name=Ops&dry_run=true");
    expect([dry.status, await dry.json()]).toEqual([200, { scripts: null }]);
    expect(await t.store.scripts.count()).toBe(3);
    expect((await replace(t, [], "?team_name=Ops")).status).toBe(200);
    expect((await textsOf(t)).map(([, name]) => name)).toEqual(["other.sh"]);
  });

  it("is part of an apply, with the policies that run scripts", async () => {
    const t = await startApp({ engine });
    const [one, two] = ["#!/bin/sh\necho $HOME\n", "echo two\r\n"];
    const made = [
      change("create", "team", "Ops", { description: "" }),
      change("create", "script", "one.sh", { sha256: sha256(one) }, "Ops"),
      change("create", "script", "one.sh", { sha256: sha256(two) }),
      change("create", "policy", "P", policy({ run_script: "one.sh" }), "Ops"),
    ];
    expect(await applied(t, { changes: made, files: filesOf(one, two) })).toEqual({ create: 4, update: 0, delete: 0 });
    const state = await stateOf(t, { files: true });
    expect(state.files).toEqual(filesOf(one, two));
    expect(thingValue(state, "script", "one.sh")).toEqual({ sha256: sha256(two) });
    expect(thingValue(state, "policy", "P", "Ops")).toMatchObject({ run_script: "one.sh" });
    const { policies } = (await (await t.get("/teams/1/policies")).json()) as { policies: object[] };
    expect(policies).toMatchObject([{ run_script: { id: expect.any(Number), name: "one.sh" } }]);

    // The policy lets go of the script in the same apply that deletes it.
    const gone = change("delete", "script", "one.sh", undefined, "Ops");
    expect(await refused(t, 409, { changes: [gone] })).toMatchObject([
      { reason: expect.stringContaining('the policy "P" runs the script "one.sh"') },
    ]);
    const last = [
      gone,
      change("create", "script", "two.sh", { sha256: sha256(two) }, "Ops"),
      change("update", "policy", "P", policy({ run_script: "two.sh" }), "Ops"),
    ];
    expect(await applied(t, { changes: last, files: filesOf(two) })).toEqual({ create: 1, update: 1, delete: 1 });
    expect((await textsOf(t)).map(([team, name]) => [team, name])).toEqual([
      [null, "one.sh"],
      [1, "two.sh"],
    ]);
    const away = [
      change("delete", "team", "Ops"),
      change("delete", "script", "two.sh", undefined, "Ops"),
      change("delete", "policy", "P", undefined, "Ops"),
    ];
    expect(await applied(t, { changes: away })).toEqual({ create: 0, update: 0, delete: 3 });
  });
});

describe.each(rulesEngines)("replacing scripts on %s", (engine) => {
  it("refuses the whole list for one wrong script, and writes nothing", async () => {
    const t = await startApp({ engine });
    await makeTeam(t, "Ops");
    const good = item("good.sh");
    const cases: [object[], string, unknown[]][] = [
      [[good, item("x.txt")], "", [422, "scripts.1", expect.stringContaining(".sh")]],
      [[good, item("y.sh", "")], "", [422, "scripts.1", "the script is empty"]],
      [[good, good], "", [422, "scripts.1.name", expect.stringContaining("more than once")]],
      [[{ name: "z.sh", script_contents: "%%%" }], "", [422, "scripts.0.script_contents", expect.any(String)]],
      [[good], "?team_id=1&team_name=Ops", [422, "team_name", expect.any(String)]],
      [[good], "?team_name=None", [404, expect.any(String), expect.any(String)]],
      [[{ ...good, team: "Ops" }], "", [400, "scripts.0.team", expect.stringContaining("unsupported key")]],
      [[good, item("v.sh", "echo $SVC_SECRET_NONE")], "", [422, "scripts.1", expect.stringContaining("NONE")]],
    ];
    for (const [scripts, query, expected] of cases)
      expect(await refusalOf(replace(t, scripts, query)), JSON.stringify(scripts)).toEqual(expected);
    expect(await t.store.scripts.count()).toBe(0);
  });

  it("leaves a script that a policy runs", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "Ops");
    await replace(t, [item("a.sh"), item("b.sh")], "?team_name=Ops");
    const script = (await t.store.scripts.first({ where: eq("name", "a.sh") }))!;
    await makePolicy(t, { name: "P", scope: "team", team_id: team.id, script_id: script.id });
    const refusal = await refusalOf(replace(t, [item("c.sh")], "?team_name=Ops"));
    expect(refusal).toEqual([
      409,
      expect.any(String),
      expect.stringContaining('the policy "P" runs the script "a.sh"'),
    ]);
    expect((await textsOf(t)).map(([, name]) => name)).toEqual(["a.sh", "b.sh"]);
  });

  it("refuses a policy with a script that its team does not have, or of all hosts", async () => {
    const t = await startApp({ engine });
    await makeTeam(t, "Ops");
    await replace(t, [item("mine.sh")]);
    const create = (owner: string | null) => [
      change("create", "policy", "P", policy({ run_script: "mine.sh" }), owner),
    ];
    expect(await refused(t, 422, { changes: create("Ops") })).toMatchObject([
      { reason: expect.stringContaining('the team has no script "mine.sh"') },
    ]);
    expect(await refused(t, 422, { changes: create(null) })).toMatchObject([
      { reason: expect.stringContaining("a global policy cannot run a script") },
    ]);
    expect(await applied(t, { changes: create("No team") })).toMatchObject({ create: 1 });
    const script = (await t.store.scripts.first({}))!;
    const body = { name: "Q", query: "SELECT 1", script_id: script.id };
    expect(await refusalOf(t.post("/teams/1/policies", body))).toEqual([
      400,
      "script_id",
      `policy payload verification: script ${script.id} does not exist in the team`,
    ]);
  });
});
