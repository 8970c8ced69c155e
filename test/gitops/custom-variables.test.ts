// Custom variables in files: where they may be used, and changes of their values, which no output shows.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, exportTo, gitops, mainFiles, planIn, stateOf, writeAll } from "../support/gitops-cli.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const script = (name: string) => `#!/bin/sh\necho $SVC_SECRET_${name}\n`;
const org = (more = "") => `org_settings: {}\ncontrols:\n  scripts:\n    - path: lib/a.sh\n${more}`;
const filesWith = (more = "", name = "KEY") =>
  writeAll(
    new Map([
      ["default.yml", org(more)],
      ["lib/a.sh", script(name)],
    ]),
  );
const variablesOf = async (app: TestApp) =>
  (await stateOf(app)).things.filter(({ kind }) => kind === "custom_variable").map(({ name, value }) => [name, value]);
const rowOf = async ({ store }: TestApp, name = "KEY") =>
  (await store.customVariables.list()).find((row) => row.name === name)!;
const uses = ["scripts", "software", "profiles", "host_names"];
const first = { SVC_SECRET_KEY: "first-value" };

describe.each(rulesEngines)("custom variables in files on %s", (engine) => {
  it("are created with what names them, and a changed value is named without being shown", async () => {
    const app = await startApp({ engine });
    const dir = await filesWith();
    const plan = async (env: Record<string, string>) => gitops(app, ["plan", ...(await mainFiles(dir))], { env });
    const planned = await plan(first);
    expect(planned.stdout).toContain('+ custom variable "KEY"');
    await applyIn(app, dir, first);
    expect(await rowOf(app)).toMatchObject({ value: "first-value", team_ids: null });
    expect((await plan(first)).stdout).toBe("No changes: the server matches the files.\n");
    const changed = await plan({ SVC_SECRET_KEY: "second-value" });
    expect(changed.stdout).toContain('~ custom variable "KEY"\n    value: (secret) changed of $SVC_SECRET_KEY');
    expect(changed.stdout).toContain("Plan: 0 to add, 1 to change, 0 to remove.");
    for (const { stdout, stderr } of [planned, changed]) expect(stdout + stderr).not.toMatch(/(first|second)-value/);
    const json = await gitops(app, ["plan", ...(await mainFiles(dir)), "-o", "json"], {
      env: { SVC_SECRET_KEY: "second-value" },
    });
    expect(JSON.parse(json.stdout).changes).toEqual([
      {
        action: "update",
        kind: "custom_variable",
        team: null,
        name: "KEY",
        fields: [{ path: "value", secret: "changed", variables: ["SVC_SECRET_KEY"] }],
      },
    ]);
    const feed = await app.store.activities.count();
    await applyIn(app, dir, { SVC_SECRET_KEY: "second-value" });
    expect(await rowOf(app)).toMatchObject({ value: "second-value", previous: "first-value" });
    expect(await app.store.activities.count()).toBeGreaterThan(feed);
  });

  it("keep the scope that was set elsewhere, unless the global file lists them", async () => {
    const app = await startApp({ engine });
    await app.post("/custom_variables", { name: "KEY", value: "first-value", uses: ["scripts", "profiles"] });
    await applyIn(app, await filesWith(), { SVC_SECRET_KEY: "second-value" });
    const sales = await makeTeam(app, "Sales");
    expect(await rowOf(app)).toMatchObject({ value: "second-value", uses: ["scripts", "profiles"], team_ids: null });
    const listed = await writeAll(
      new Map([
        [
          "default.yml",
          org(
            "custom_variables:\n  - name: KEY\n    teams: [no team, Sales, New]\n    uses: [scripts]\n  - name: OTHER\n",
          ),
        ],
        ["teams/sales.yml", "name: Sales\n"],
        ["teams/new.yml", "name: New\n"],
        ["lib/a.sh", script("KEY")],
      ]),
    );
    const env = { SVC_SECRET_KEY: "second-value", SVC_SECRET_OTHER: "other-value" };
    expect((await planIn(app, listed, env)).filter(({ kind }) => kind === "custom_variable")).toEqual([
      {
        action: "update",
        kind: "custom_variable",
        team: null,
        name: "KEY",
        fields: [
          { path: "teams", old: null, new: ["New", "No team", "Sales"] },
          { path: "uses", old: ["scripts", "profiles"], new: ["scripts"] },
        ],
      },
      {
        action: "create",
        kind: "custom_variable",
        team: null,
        name: "OTHER",
        value: { teams: null, uses, value: "(secret)" },
      },
    ]);
    await applyIn(app, listed, env);
    const made = (await app.store.teams.list()).find(({ name }) => name === "New")!;
    expect(await rowOf(app)).toMatchObject({ team_ids: [0, sales.id, made.id], uses: ["scripts"] });
    expect(await planIn(app, listed, env)).toEqual([]);
    // Listed variables need no value once they have one, and those that are left out stay.
    expect(await planIn(app, listed, { SVC_SECRET_KEY: "second-value" })).toEqual([]);
    expect(
      (await planIn(app, await filesWith(), first)).filter(({ kind }) => kind === "custom_variable"),
    ).toMatchObject([{ action: "update", name: "KEY", fields: [{ path: "value" }] }]);
  });

  it("are exported with their scopes, and not with their values", async () => {
    const app = await startApp({ engine });
    const team = await makeTeam(app, "Sales");
    await app.post("/custom_variables", {
      name: "KEY",
      value: "first-value",
      team_ids: [0, team.id],
      uses: ["scripts"],
    });
    await app.post("/custom_variables", { name: "PLAIN", value: "other-value" });
    const dir = await writeAll(new Map());
    await exportTo(app, dir);
    const text = await readFile(join(dir, "lib/custom_variables.yml"), "utf8");
    expect(text).toBe("- name: KEY\n  teams:\n    - No team\n    - Sales\n  uses:\n    - scripts\n- name: PLAIN\n");
    expect(await readFile(join(dir, ".env.example"), "utf8")).toContain("SVC_SECRET_KEY=\n");
    expect(await planIn(app, dir)).toEqual([]);
    // A copy of .env.example has no values before it is filled in.
    expect(await planIn(app, dir, { SVC_SECRET_KEY: "", SVC_SECRET_PLAIN: "" })).toEqual([]);
  });

  it("name what is wrong at its place", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(
      new Map([
        ["default.yml", "org_settings: {}\ncustom_variables:\n  - name: NEW\n  - name: A\n    teams: [Nobody]\n"],
      ]),
    );
    const refused = await gitops(app, ["plan", ...(await mainFiles(dir))], { env: { SVC_SECRET_A: "long-value" } });
    expect(refused.stderr).toMatch(/default\.yml:3:5: the server has no custom variable "NEW".*SVC_SECRET_NEW/);
    expect(refused.stderr).toMatch(/default\.yml:5:5: the team "Nobody" will not exist/);
    const wrong = await writeAll(
      new Map([
        [
          "default.yml",
          "org_settings: {}\ncustom_variables:\n  - name: SVC_SECRET_A\n  - name: B\n    uses: [everywhere]\n  - name: C\n  - name: C\n",
        ],
        ["teams/a.yml", "name: A\ncustom_variables: [{name: D}]\n"],
      ]),
    );
    const { stderr } = await gitops(app, ["plan", ...(await mainFiles(wrong))]);
    expect(stderr).toMatch(/default\.yml:3:5: .*without the prefix SVC_SECRET_/);
    expect(stderr).toMatch(/default\.yml:5:\d+: custom_variables\.1\.uses\.0: /);
    expect(stderr).toMatch(/default\.yml:7:5: the custom variable "C" is already defined in .*:6/);
    expect(stderr).toMatch(/a\.yml:2:1: custom variables are for all teams/);
  });

  it("stay as they are for roles on a team, and only those who may change them do", async () => {
    const app = await startApp({ engine });
    const team = await makeTeam(app, "Sales");
    await app.post("/custom_variables", { name: "KEY", value: "first-value" });
    const dir = await writeAll(
      new Map([
        ["teams/sales.yml", "name: Sales\ncontrols:\n  scripts:\n    - path: ../lib/a.sh\n"],
        ["lib/a.sh", script("KEY")],
      ]),
    );
    const { token } = await makeUser(app, { teams: [{ id: team.id, role: "gitops" }] }, { api_only: true });
    const argv = ["apply", "-f", join(dir, "teams/sales.yml"), "--yes"];
    const env = { SVC_API_TOKEN: token, SVC_SECRET_KEY: "second-value" };
    const result = await gitops(app, argv, { env });
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.stderr).toContain('custom variable "KEY": your role does not see it, so it is kept unchanged');
    expect((await rowOf(app)).value).toBe("first-value");
    expect(await app.store.scripts.count()).toBe(1);
    // A global role sends the value with the file of a team, too.
    expect((await gitops(app, argv, { env: { SVC_SECRET_KEY: "second-value" } })).exitCode).toBe(0);
    expect((await rowOf(app)).value).toBe("second-value");
    expect(await variablesOf(app)).toEqual([["KEY", { teams: null, uses, value: { $secret: "" } }]]);
  });
});
