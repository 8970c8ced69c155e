// `svc apply`: its output, questions, changes and refusals, with real servers.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Send } from "../../src/client/transport.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { sendInto } from "../support/cli.ts";
import { bothEngines } from "../support/engines.ts";
import { gitops, stateOf, writeAll } from "../support/gitops-cli.ts";
import { makeSession, makeUser } from "../support/make.ts";

const DEFAULT = `org_settings:
  org_info:
    org_name: Example
  secrets:
    - secret: $GLOBAL_SECRET
controls: {}
labels:
  - name: Laptops
    query: SELECT 1 FROM battery
policies:
  - name: Disk encrypted
    query: SELECT 1 FROM disk_encryption
    labels_include_any: [Laptops]
`;
const OPS = `name: Ops
settings:
  description: Operations
  secrets:
    - secret: $OPS_SECRET
reports:
  - name: Users
    query: |
      SELECT *
      FROM users
    interval: 3600
`;
const env = { GLOBAL_SECRET: "global-secret-of-16", OPS_SECRET: "ops-secret-of-16-x" };

const repository = (files: Record<string, string> = {}) =>
  writeAll(new Map(Object.entries({ "default.yml": DEFAULT, "teams/ops.yml": OPS, ...files })));
const both = (dir: string) => ["-f", join(dir, "default.yml"), join(dir, "teams/ops.yml")];
const revisions = async (app: TestApp) => (await stateOf(app)).things.map(({ revision }) => revision);

/** Counts the requests to one path. */
const counting = (app: TestApp, path: string): { send: Send; calls: () => number } => {
  let calls = 0;
  const send = sendInto(app);
  return {
    calls: () => calls,
    send: (url, init) => {
      if (new URL(url).pathname.endsWith(path)) calls++;
      return send(url, init);
    },
  };
};

describe.each(bothEngines)("svc apply on %s", (engine) => {
  it("makes the server match the files, and then has nothing to do", async () => {
    const app = await startApp({ engine });
    const dir = await repository();
    const first = await gitops(app, ["apply", ...both(dir), "--yes"], { env });
    expect(first).toMatchObject({ exitCode: 0 });
    expect(first.stdout).toMatch(/^\+ label "Laptops"$/m);
    expect(first.stdout).toContain("Plan: ");
    expect(first.stderr).toMatch(/^\[\+\] team "Ops"$/m);
    expect(first.stderr.trimEnd().split("\n").at(-1)).toBe("gitops succeeded");
    expect(`${first.stdout}${first.stderr}`).not.toContain(env.OPS_SECRET);

    const { things } = await stateOf(app);
    expect(things.find(({ kind, name }) => kind === "policy" && name === "Disk encrypted")).toMatchObject({
      owner: null,
      value: { labels_include_any: ["Laptops"] },
    });
    const query = things.find(({ kind }) => kind === "query");
    expect(query).toMatchObject({ owner: "Ops", value: { query: "SELECT *\nFROM users\n", interval: 3600 } });
    const secrets = await (await app.get("/spec/enroll_secret")).json();
    expect(secrets).toMatchObject({ spec: { secrets: [{ secret: env.GLOBAL_SECRET }] } });

    const before = await app.store.activities.count(everything);
    const again = counting(app, "/spec/apply");
    const second = await gitops(app, ["apply", ...both(dir), "--yes"], { env, send: again.send });
    expect(second).toMatchObject({ exitCode: 0, stdout: "No changes: the server matches the files.\n" });
    expect(second.stderr).toBe("gitops succeeded\n");
    expect(again.calls()).toBe(0);
    expect(await app.store.activities.count(everything)).toBe(before);
  });

  it("applies a saved plan once, and refuses it after a change on the server", async () => {
    const app = await startApp({ engine });
    const dir = await repository();
    const plan = join(dir, "plan.json");
    const save = () => gitops(app, ["plan", ...both(dir), "--out", plan], { env });
    expect(await save()).toMatchObject({ exitCode: 0 });
    await app.post("/labels", { name: "Another", query: "SELECT 2" });
    const late = await gitops(app, ["apply", plan, "--yes"]);
    expect(late).toMatchObject({ exitCode: 5, stdout: "" });
    expect(late.stderr).toContain('[!] label "Another" is new');
    expect((await stateOf(app)).things.some(({ kind }) => kind === "team")).toBe(false);

    expect(await save()).toMatchObject({ exitCode: 0 });
    await app.patch("/config", { org_info: { org_name: "Changed meanwhile" } });
    const moved = await gitops(app, ["apply", plan, "--yes"]);
    expect(moved.exitCode).toBe(5);
    expect(moved.stderr).toContain('[!] settings "org_info" was changed');

    expect(await save()).toMatchObject({ exitCode: 0 });
    expect(await gitops(app, ["apply", plan, "--yes"])).toMatchObject({ exitCode: 0 });
    expect((await stateOf(app)).things.some(({ kind, name }) => kind === "team" && name === "Ops")).toBe(true);
    expect((await gitops(app, ["apply", plan, "--yes"])).exitCode).toBe(5);
  });

  it("is refused by the server if an affected object changed while it asked for confirmation", async () => {
    const app = await startApp({ engine });
    const dir = await repository();
    await gitops(app, ["apply", ...both(dir), "--yes"], { env });
    await writeFile(join(dir, "default.yml"), DEFAULT.replace("Example", "Wanted"));
    const before = await revisions(app);
    const meddle = async () => {
      await app.patch("/config", { org_info: { org_name: "Meddled" } });
      return true;
    };
    const { exitCode, stderr, asked } = await gitops(app, ["apply", ...both(dir)], {
      env,
      tty: true,
      answers: [meddle as never],
    });
    expect(asked).toEqual(["Apply this: 0 to add, 1 to change, 0 to remove?"]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain("org_info");
    expect((await stateOf(app)).things.find(({ name }) => name === "org_info")?.value).toMatchObject({
      org_name: "Meddled",
    });
    expect((await revisions(app)).length).toBe(before.length);
  });
});

/** Applies both files, and returns the environment of a user with the role gitops on their team. */
async function appliedAndWithRoleOnTeam(app: TestApp, dir: string) {
  await gitops(app, ["apply", ...both(dir), "--yes"], { env });
  const { teams } = (await (await app.get("/teams")).json()) as { teams: { id: number }[] };
  const user = await makeUser(app, { teams: [{ id: teams[0]!.id, role: "gitops" }] });
  return { ...env, SVC_API_TOKEN: await makeSession(app, user.id) };
}

describe("svc apply", () => {
  it("writes nothing in a dry run, although the server checks everything", async () => {
    const app = await startApp();
    const dir = await repository();
    const before = await revisions(app);
    const result = await gitops(app, ["apply", ...both(dir), "--dry-run"], { env });
    expect(result.exitCode).toBe(0);
    expect(result.stderr).toContain('[+] would apply team "Ops"');
    expect(result.stderr.trimEnd().split("\n").at(-1)).toBe("gitops dry run succeeded");
    expect(await revisions(app)).toEqual(before);
    await writeFile(join(dir, "default.yml"), DEFAULT.replace("org_name: Example", "contact_url: javascript:x"));
    const refused = await gitops(app, ["apply", ...both(dir), "--dry-run"], { env });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("contact_url");
    const byEnvironment = await gitops(app, ["apply", "--yes"], {
      env: { ...env, SVC_APPLY_DRY_RUN: "1", SVC_APPLY_FILE: join(dir, "teams/ops.yml") },
    });
    expect(byEnvironment).toMatchObject({ exitCode: 0 });
    expect(await revisions(app)).toEqual(before);
  });

  it("can be used with a role on a team, for that team only", async () => {
    const app = await startApp();
    const dir = await repository();
    const theirs = await appliedAndWithRoleOnTeam(app, dir);
    const own = join(dir, "teams/ops.yml");
    await writeFile(own, OPS.replace("Operations", "Our own"));
    const applied = await gitops(app, ["apply", "-f", own, "--yes"], { env: theirs });
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(applied.stderr).toContain("[!] enroll secrets (team Ops): your role does not see them");
    const { things } = await stateOf(app);
    expect(things.find(({ kind, name }) => kind === "team" && name === "Ops")?.value).toEqual({
      description: "Our own",
    });
    const before = await revisions(app);
    await writeFile(join(dir, "default.yml"), DEFAULT.replace("Example", "Theirs"));
    const beyond = await gitops(app, ["apply", ...both(dir), "--yes"], { env: theirs });
    expect(beyond.exitCode).toBe(4);
    expect(await revisions(app)).toEqual(before);
    const observer = await makeUser(app, "observer");
    const denied = await gitops(app, ["plan", "-f", own], {
      env: { ...env, SVC_API_TOKEN: await makeSession(app, observer.id) },
    });
    expect(denied.exitCode).toBe(4);
  });

  it("and all other commands of files refuse what the caller may not write", async () => {
    const app = await startApp();
    const dir = await repository();
    const theirs = await appliedAndWithRoleOnTeam(app, dir);
    await app.post("/teams", { name: "Team B" });
    // A team of others, one that does not exist, and the settings of the organization.
    const files: [string, string, string][] = [
      ["b.yml", "name: Team B\nsettings: {description: Theirs}\n", 'team "Team B"'],
      ["c.yml", "name: Team C\nsettings: {secrets: [{secret: a-secret}]}\n", 'team "Team C"'],
      ["default.yml", DEFAULT, "settings"],
    ];
    for (const [name, text, what] of files) {
      const file = join(dir, name);
      await writeFile(file, text);
      for (const argv of [["plan"], ["plan", "--out", join(dir, "plan.json")], ["drift"], ["apply", "--dry-run"]]) {
        const { stdout, stderr, exitCode } = await gitops(app, [...argv, "-f", file], { env: theirs });
        expect({ stdout, exitCode }, `${name}, ${argv[0]}: ${stderr}`).toEqual({ stdout: "", exitCode: 4 });
        expect(stderr).toContain("your role may not read or write these: ");
        expect(stderr).toContain(what);
      }
    }
    expect((await readdir(dir)).includes("plan.json")).toBe(false);
    const own = ["-f", join(dir, "teams/ops.yml")];
    for (const command of ["plan", "drift"])
      expect((await gitops(app, [command, ...own], { env: theirs })).exitCode).toBe(0);
  });

  it("asks on a terminal, and accepts no as the answer", async () => {
    const app = await startApp();
    const dir = await repository();
    const before = await revisions(app);
    const no = await gitops(app, ["apply", ...both(dir)], { env, tty: true, answers: [false] });
    expect(no).toMatchObject({ exitCode: 2 });
    expect(no.stderr).toContain("nothing was changed");
    expect(no.stdout).toContain("\u001b[32m+ label");
    expect(await revisions(app)).toEqual(before);
    expect((await gitops(app, ["apply", ...both(dir)], { env, tty: true, answers: [true] })).exitCode).toBe(0);
  });

  it("needs --yes without a terminal", async () => {
    const app = await startApp();
    const dir = await repository();
    const { exitCode, stderr, stdout } = await gitops(app, ["apply", ...both(dir)], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--yes");
    expect(stdout).toContain("Plan: ");
    expect((await stateOf(app)).things.some(({ kind }) => kind === "label")).toBe(false);
  });

  it("keeps teams that are in no file with their objects, unless told to delete them", async () => {
    const app = await startApp();
    const dir = await repository();
    await gitops(app, ["apply", ...both(dir), "--yes"], { env });
    const kept = await gitops(app, ["apply", "-f", join(dir, "default.yml"), "--yes"], { env });
    expect(kept).toMatchObject({ exitCode: 0, stdout: "No changes: the server matches the files.\n" });
    expect(kept.stderr).toContain("[!] 1 team in no file, kept unchanged: Ops");
    const gone = await gitops(app, ["apply", "-f", join(dir, "default.yml"), "--yes"], {
      env: { ...env, SVC_APPLY_DELETE_OTHER_TEAMS: "true" },
    });
    expect(gone.exitCode).toBe(0);
    expect(gone.stderr).toContain('[-] team "Ops"');
    expect(gone.stdout).toContain('- query "Users" (team Ops)');
    expect((await stateOf(app)).things.some(({ owner, name }) => owner === "Ops" || name === "Ops")).toBe(false);
  });

  it("refuses implausibly many deletions", async () => {
    const app = await startApp();
    const labels = Array.from({ length: 30 }, (_, i) => `  - {name: Label ${i}, query: SELECT ${i}}\n`).join("");
    const dir = await repository({ "default.yml": `org_settings: {}\ncontrols: {}\nlabels:\n${labels}` });
    const apply = (...more: string[]) => gitops(app, ["apply", "-f", join(dir, "default.yml"), "--yes", ...more]);
    expect(await apply()).toMatchObject({ exitCode: 0 });
    await writeFile(join(dir, "default.yml"), "org_settings: {}\ncontrols: {}\n");
    const plan = await gitops(app, ["plan", "-f", join(dir, "default.yml")]);
    expect(plan).toMatchObject({ exitCode: 0 });
    expect(plan.stderr).toContain("--allow-delete");
    for (const flags of [[], ["--max-deletes", "29"], ["--max-deletes", "30"], ["--dry-run"]]) {
      const refused = await apply(...flags);
      expect(refused.exitCode, flags.join(" ")).toBe(2);
      expect(refused.stderr).toContain("--allow-delete");
    }
    expect((await stateOf(app)).things.filter(({ kind }) => kind === "label")).toHaveLength(30);
    expect(await apply("--allow-delete")).toMatchObject({ exitCode: 0 });
    expect((await stateOf(app)).things.filter(({ kind }) => kind === "label")).toHaveLength(0);
  });

  it("reports all problems of all files at once, with positions and the most similar key, without a request", async () => {
    const dir = await repository({
      "default.yml": "org_settings:\n  org_info:\n    org_nam: x\ncontrols: {}\npolices: []\n",
      "teams/ops.yml": "name: Ops\nsettings:\n  secrets:\n    - secret: $UNSET_THING\n",
    });
    const app = await startApp();
    const state = counting(app, "/spec/state");
    const { exitCode, stderr, stdout } = await gitops(app, ["apply", ...both(dir), "--yes"], { send: state.send });
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/default\.yml:3:5: unknown key org_settings\.org_info\.org_nam; did you mean org_name\?/);
    expect(stderr).toMatch(/default\.yml:5:1: unknown key polices; did you mean policies\?/);
    expect(stderr).toMatch(/ops\.yml:4:15: the environment variable UNSET_THING is not set/);
    expect(stderr).toContain("Error: 3 errors in the files");
    expect(state.calls()).toBe(0);
    const json = await gitops(app, ["apply", ...both(dir), "--yes", "-o", "json"]);
    expect(JSON.parse(json.stderr).error.errors).toHaveLength(3);
    expect(JSON.parse(json.stderr).error.errors[0].name).toMatch(/default\.yml:3:5$/);
    const loose = await gitops(app, ["plan", "-f", join(dir, "default.yml"), "--allow-unknown-keys"]);
    expect(loose.stderr).toMatch(/\[!\] .*default\.yml:3:5: unknown key/);
  });

  it("refuses contradictory arguments", async () => {
    const app = await startApp();
    const dir = await repository();
    const plan = join(dir, "plan.json");
    await gitops(app, ["plan", ...both(dir), "--out", plan], { env });
    await writeFile(join(dir, "other.json"), '{"format": "svc-plan-0"}');
    const wrong: [string[], RegExp][] = [
      [["apply", "--yes"], /no files are given/],
      [["apply", plan, "-f", join(dir, "default.yml"), "--yes"], /either a saved plan or files/],
      [["apply", join(dir, "other.json"), "--yes"], /is not a plan of this version/],
      [["apply", plan, "--yes", "--server-url", "http://127.0.0.1:9999"], /was made for http:\/\/127\.0\.0\.1:8412/],
    ];
    for (const [argv, reason] of wrong) {
      const { exitCode, stderr } = await gitops(app, argv, { env });
      expect(stderr).toMatch(reason);
      expect(exitCode, argv.join(" ")).toBe(2);
    }
  });

  it("reads a plan from stdin, and prints its JSON on stdout", async () => {
    const app = await startApp();
    const dir = await repository();
    const saved = await gitops(app, ["plan", ...both(dir), "--out", "-"], { env });
    expect(saved.exitCode).toBe(0);
    const { exitCode, stdout } = await gitops(app, ["apply", "-", "--yes", "-o", "json"], { stdin: saved.stdout });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).summary.remove).toBe(0);
    expect(stdout).not.toContain(env.OPS_SECRET);
  });

  it("reports an unknown result if the connection is lost during the request", async () => {
    const app = await startApp();
    const dir = await repository();
    const into = sendInto(app);
    const send: Send = (url, init) => {
      if (url.endsWith("/spec/apply")) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
      return into(url, init);
    };
    const { exitCode, stderr } = await gitops(app, ["apply", ...both(dir), "--yes"], { env, send });
    expect(exitCode).toBe(8);
    expect(stderr).toContain("All of them were made, or none");
  });

  it("prints the schema of the files for editors", async () => {
    const app = await startApp();
    const { exitCode, stdout } = await gitops(app, ["apply", "--schema"]);
    expect(exitCode).toBe(0);
    const schema = JSON.parse(stdout);
    expect(schema.$schema).toContain("json-schema.org");
    expect(stdout).toContain("labels_include_any");
  });
});
