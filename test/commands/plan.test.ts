// `svc plan`: the changes, for people, programs and pull requests, and saved plans.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { startApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { changeOne, configurations, environmentOf } from "../support/configurations.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, gitops, HOSTS, planIn, stateOf, withHosts, writeAll } from "../support/gitops-cli.ts";

const FILE = `org_settings:
  org_info: {org_name: Example}
  smtp_settings: {password: $SMTP_PASSWORD}
controls: {}
policies:
  - name: Disk
    query: |
      SELECT 1
      FROM disk_encryption
      WHERE encrypted = 1
labels:
  - {name: Old, query: SELECT 1}
`;
const env = { SMTP_PASSWORD: "a-password" };

async function applied() {
  const app = await startApp();
  const dir = await writeAll(new Map([["default.yml", FILE]]));
  await applyIn(app, dir, env);
  const file = join(dir, "default.yml");
  const plan = (text: string, ...more: string[]) =>
    writeFile(file, text).then(() => gitops(app, ["plan", "-f", file, ...more], { env }));
  return { app, dir, file, plan };
}
const changed = FILE.replace("FROM disk_encryption", "FROM disk_info")
  .replace("{org_name: Example}", "{org_name: Other}")
  .replace("  - {name: Old, query: SELECT 1}\n", "  - {name: New, query: SELECT 2}\n");
const told = `+ label "New"
    label_membership_type: "dynamic"
    query: "SELECT 2"
- label "Old"
~ policy "Disk"
    query:
      @@ -1,3 +1,3 @@
       SELECT 1
      -FROM disk_encryption
      +FROM disk_info
       WHERE encrypted = 1

Plan: 1 to add, 2 to change, 1 to remove.
`;

describe("svc plan", () => {
  it("shows of a new team what its file sets, and not every default", async () => {
    const app = await startApp();
    await turnOnAppleMdm(app);
    const plan = async (text: string, ...more: string[]) => {
      const dir = await writeAll(new Map([["t.yml", text]]));
      return gitops(app, ["plan", "-f", join(dir, "t.yml"), ...more], { env });
    };
    const bare = await plan("name: New\n");
    expect(bare.stdout).toBe('+ team "New"\n+ team settings (team New)\n\nPlan: 2 to add, 0 to change, 0 to remove.\n');
    const NEW = `name: New
settings:
  description: Tests
  host_expiry_settings: {host_expiry_enabled: true, host_expiry_window: 7}
  features: {enable_software_inventory: false}
controls: {macos_updates: {minimum_version: '15.1', deadline: '2026-01-31'}}
`;
    const set = await plan(NEW);
    expect(set.stdout).toBe(`+ team "New"
    description: "Tests"
+ team settings (team New)
    host_expiry_settings.host_expiry_enabled: true
    host_expiry_settings.host_expiry_window: 7
    features.enable_software_inventory: false
    mdm.macos_updates.minimum_version: "15.1"
    mdm.macos_updates.deadline: "2026-01-31"
    mdm.macos_updates.update_new_hosts: true

Plan: 2 to add, 0 to change, 0 to remove.
`);
    expect((await plan(NEW, "--markdown")).stdout).toContain(set.stdout.split("\n\n")[0]);
    // Programs get the complete value, which an apply sends.
    const { changes } = JSON.parse((await plan(NEW, "-o", "json")).stdout);
    expect(changes[1].value.features).toMatchObject({ enable_software_inventory: false, enable_host_users: true });
    const dir = await writeAll(new Map([["t.yml", NEW]]));
    const applied = await gitops(app, ["apply", "-f", join(dir, "t.yml"), "--yes"], { env });
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect((await plan(NEW)).stdout).toBe("No changes: the server matches the files.\n");
  });

  it("reports per object what is added, changed and removed", async () => {
    const { plan } = await applied();
    const { stdout, stderr, exitCode } = await plan(changed);
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    expect(stdout).toBe(`~ settings "org_info"\n    org_name: "Example" -> "Other"\n${told}`);
    expect((await plan(changed, "--exit-code")).exitCode).toBe(9);
    expect(await plan(FILE, "--exit-code")).toMatchObject({
      exitCode: 0,
      stdout: "No changes: the server matches the files.\n",
    });
  });

  it("reads a file from stdin", async () => {
    const { app } = await applied();
    const { stdout, exitCode } = await gitops(app, ["plan", "-f", "-"], { env, stdin: changed });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(told);
    const wrong = await gitops(app, ["plan", "-f", "-"], { env, stdin: "org_settings: {nothing: 1}\ncontrols: {}\n" });
    expect(wrong.stderr).toContain("-:1:16: unknown key org_settings.nothing");
  });

  it("uses colours only on a terminal, and never if they are turned off", async () => {
    const { app, file, plan } = await applied();
    await plan(changed);
    const { stdout } = await gitops(app, ["plan", "-f", file], { env, tty: true });
    expect(stdout).toContain('\u001b[31m- label "Old"\u001b[0m');
    expect(stdout).toContain("\u001b[31m1 to remove\u001b[0m");
    for (const more of [{ env: { ...env, NO_COLOR: "1" } }, { env: { ...env, CI: "1" } }])
      expect((await gitops(app, ["plan", "-f", file], { tty: true, ...more })).stdout).not.toContain("\u001b[3");
  });

  it("prints JSON, rows or Markdown on request", async () => {
    const { plan } = await applied();
    const { summary, changes } = JSON.parse((await plan(changed, "-o", "json")).stdout);
    expect(summary).toEqual({ add: 1, change: 2, remove: 1 });
    expect(changes[0]).toEqual({
      action: "update",
      kind: "config",
      team: null,
      name: "org_info",
      fields: [{ path: "org_name", old: "Example", new: "Other" }],
    });
    const rows = (await plan(changed, "-o", "ndjson")).stdout.trim().split("\n");
    expect(rows.map((row) => JSON.parse(row).action)).toEqual(["update", "create", "delete", "update"]);
    const markdown = await plan(changed, "--markdown");
    expect(markdown.stdout).toMatch(/^### svc plan: 1 to add, 2 to change, 1 to remove\n\n\*\*Removes 1:\*\*/);
    expect((await plan(changed, "--markdown", "-o", "json")).exitCode).toBe(2);
  });

  it("reports of a secret only that it changed, and of a long list only the number", async () => {
    const { app, file } = await applied();
    const other = { ...env, SMTP_PASSWORD: "another-password" };
    const { stdout } = await gitops(app, ["plan", "-f", file], { env: other });
    expect(stdout).toContain("password: (secret) changed");
    expect(stdout).not.toMatch(/password":|[0-9a-f]{32}/);
    await writeFile(file, FILE.replace("org_settings:\n", "org_settings:\n  secrets: [{secret: one-secret-x}]\n"));
    const secrets = await gitops(app, ["plan", "-f", file], { env });
    expect(secrets.stdout).toContain('secrets: [] -> ["(secret)"]');
  });

  it("saves a plan that only its owner can read, and reports that it contains secrets", async () => {
    const { app, dir, file } = await applied();
    const out = join(dir, "plan.json");
    const { exitCode, stderr } = await gitops(app, ["plan", "-f", file, "--out", out], {
      env: { SMTP_PASSWORD: "the-new-password" },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("and the secrets that it sets");
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    const saved = JSON.parse(await readFile(out, "utf8"));
    expect(saved.server_url).toBe("http://127.0.0.1:8412");
    expect(Object.values(saved.secrets)).toEqual(["the-new-password"]);
    expect(saved.pins).toHaveLength((await stateOf(app)).things.length);
  });
});

describe.each(rulesEngines)("a plan against %s", (engine) => {
  it("shows the one field that was changed, and nothing else", async () => {
    const app = await withHosts(await startApp({ engine }));
    const { defaults } = await stateOf(app);
    const [things] = fc.sample(configurations({ defaults, hosts: HOSTS, authorities: true }), { numRuns: 1, seed: 21 });
    const { files, variables } = exportFiles({ things: things!, defaults });
    const environment = environmentOf(variables);
    await applyIn(app, await writeAll(files), environment);
    for (let pick = 0; pick < 15; pick++) {
      const { kind, owner, name, path, ...one } = changeOne(things!, pick * 977)!;
      const dir = await writeAll(exportFiles({ things: one.things, defaults }).files);
      const plan = await planIn(app, dir, environment);
      expect(plan.map(({ fields, ...change }) => ({ ...change, fields: fields?.map((field) => field.path) }))).toEqual([
        { action: "update", kind, team: owner, name, fields: [path] },
      ]);
    }
  });
});
