// The setup script of a team in files, with real servers.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { applied, change, refused, stateOf, thingValue } from "../support/configuration.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { gitops, writeAll } from "../support/gitops-cli.ts";
import { errorsOf, readGiven, stateWith, thing } from "../support/gitops-files.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const file = (text: string) => ({ [sha256(text)]: Buffer.from(text).toString("base64") });
const KIND = "setup_script";
const T = thing("team", null, "T", { description: "" });

describe("setup scripts in files", () => {
  it("are named like their file, with line ends as the server stores them, and exported without loss", async () => {
    const files = {
      "d.yml": "org_settings: {}\ncontrols: {macos_setup: {script: s/done.sh}}\n",
      "t.yml": "name: T\ncontrols: {setup_experience: {macos_script: s/done.sh, lock_end_user_info: false}}\n",
      "s/done.sh": "echo $HOME\r\n",
    };
    const read = await readGiven(files, {}, ["d.yml", "t.yml"]);
    const { things, problems } = desiredOf(read, stateWith([T]));
    expect(errorsOf(problems)).toEqual([]);
    const value = { sha256: sha256("echo $HOME\n") };
    const own = things.filter(({ kind }) => kind === KIND);
    expect(own).toEqual([
      { kind: KIND, owner: null, name: "done.sh", value },
      { kind: KIND, owner: "T", name: "done.sh", value },
    ]);
    // The settings do not contain the path.
    const settings = things.find(({ kind, owner }) => kind === "team_settings" && owner === "T")!.value;
    expect(settings).toMatchObject({ mdm: { macos_setup: { lock_end_user_info: false } } });
    expect(JSON.stringify(things)).not.toContain("s/done.sh");

    const state = stateWith([T, ...own.map(({ owner }) => thing(KIND, owner, "done.sh", value))]);
    const { files: written } = exportFiles({ ...state, files: file("echo $HOME\n") });
    const main = [...written.keys()].filter((path) => path === "default.yml" || path.startsWith("teams/"));
    const again = desiredOf(await readGiven(Object.fromEntries(written), {}, main), state);
    expect(errorsOf(again.problems)).toEqual([]);
    expect(again.things.filter(({ kind }) => kind === KIND)).toEqual(own);
  });

  it.each<[string, string, RegExp]>([
    ["another extension", "script: a.bat", /unsupported extension/],
    ["a missing file", "script: b.sh", /does not exist/],
    ["a list", "script: [a.sh]", /expected string/],
    ["both spellings", "script: a.sh, macos_script: a.sh", /macos_script/],
  ])("are refused with %s", async (_, setup, message) => {
    const files = { "t.yml": `name: T\ncontrols: {macos_setup: {${setup}}}\n`, "a.sh": "x", "a.bat": "x" };
    const { problems } = await readGiven(files, {}, ["t.yml"]);
    expect(errorsOf(problems).join("\n")).toMatch(message);
  });
});

const rows = async (t: TestApp) =>
  (await t.store.setupScripts.list({})).map(({ team_id, name }) => [team_id, name]).sort();

describe.each(bothEngines)("the setup script of files on %s", (engine) => {
  it("is added, replaced under another name, and removed, for teams and hosts without one", async () => {
    const t = await startApp({ engine });
    const run = async (script: string, text: string, ...more: string[]) => {
      const controls = script === "" ? "{}" : `{macos_setup: {script: ${script}}}`;
      const files = {
        "d.yml": `org_settings: {}\ncontrols: ${controls}\n`,
        "t.yml": `name: T\ncontrols: ${controls}\n`,
      };
      const dir = await writeAll(new Map(Object.entries(script === "" ? files : { ...files, [script]: text })));
      const paths = ["-f", join(dir, "d.yml"), "-f", join(dir, "t.yml")];
      const result = await gitops(t, ["apply", ...paths, "--yes", "--allow-delete", ...more]);
      expect(result.exitCode, result.stderr).toBe(0);
      if (more.length === 0) expect((await gitops(t, ["plan", ...paths, "--exit-code"])).exitCode).toBe(0);
    };
    await run("a.sh", "echo 1", "--dry-run");
    expect(await rows(t)).toEqual([]);
    await run("a.sh", "echo 1");
    const team = (await t.store.teams.first({}))!.id;
    expect(await rows(t)).toEqual(
      [
        [null, "a.sh"],
        [team, "a.sh"],
      ].sort(),
    );
    await run("a.sh", "echo 2");
    const state = await stateOf(t, { files: true });
    expect(thingValue(state, KIND, "a.sh", "T")).toEqual({ sha256: sha256("echo 2") });
    expect(state.files).toMatchObject(file("echo 2"));
    await run("b.sh", "echo 2");
    expect(await rows(t)).toEqual(
      [
        [null, "b.sh"],
        [team, "b.sh"],
      ].sort(),
    );
    await run("", "");
    expect(await rows(t)).toEqual([]);
  });
});

describe.each(rulesEngines)("the setup script of an apply on %s", (engine) => {
  it("is one for each owner, has a content, and is written by those who may change the setup of the team", async () => {
    const t = await startApp({ engine });
    const { id } = await makeTeam(t, "T");
    await makeTeam(t, "Other");
    const create = (name: string, owner: string | null = "T") =>
      change("create", KIND, name, { sha256: sha256("echo") }, owner);
    const both = { changes: [create("a.sh"), create("b.sh")], files: file("echo") };
    expect((await refused(t, 422, both))[0]!.reason).toMatch(/only one script/);
    expect((await refused(t, 422, { changes: [create("a.sh")] }))[0]!.name).toBe("changes.0.value.sha256");
    expect((await refused(t, 422, { changes: [create("a.bat")], files: file("echo") }))[0]!.name).toMatch(
      /^changes\.0/,
    );
    await applied(t, { changes: [create("a.sh"), create("a.sh", null)], files: file("echo") });
    expect((await refused(t, 409, { changes: [create("b.sh")], files: file("echo") }))[0]!.reason).toMatch(/a\.sh/);
    const caller = await makeUser(t, { teams: [{ id, role: "gitops" }] });
    const seen = (await stateOf(caller)).things.filter(({ kind }) => kind === KIND);
    expect(seen.map(({ owner }) => owner)).toEqual(["T"]);
    const body = (owner: string | null) => ({ changes: [create("c.sh", owner)], files: file("echo") });
    expect((await caller.post("/spec/apply", body(null))).status).toBe(403);
    expect([403, 404]).toContain((await caller.post("/spec/apply", body("Other"))).status);
    expect(await applied(caller, { changes: [change("delete", KIND, "a.sh", undefined, "T")] })).toMatchObject({
      delete: 1,
    });
    expect(await rows(t)).toEqual([[null, "a.sh"]]);
  });
});
