// What people change by hand although files determine the rest: files neither overwrite nor delete it silently.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AppConfig } from "../../src/api/settings/app-config.ts";
import { desiredOf } from "../../src/gitops/desired/desired.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { gitops, writeAll } from "../support/gitops-cli.ts";
import { errorsOf, GLOBAL, readGiven, stateWith, thing } from "../support/gitops-files.ts";

const none = { labels: false, software: false, secrets: false };
const SHA = "a".repeat(64);
const things = [
  thing("label", null, "Kept", { query: "SELECT 1" }),
  thing("team", null, "T"),
  thing("enroll_secrets", "T", "enroll_secrets", { secrets: [{ $secret: "" }] }),
  thing("package", "T", "https://example.com/a.pkg", { sha256: SHA, slug: "" }),
  thing("store_app", "T", "123/darwin"),
  thing("package", "No team", "https://example.com/n.pkg", { sha256: "b".repeat(64), slug: "" }),
];
const stateOf = (exceptions: object) => stateWith(things, { gitops_exceptions: { ...none, ...exceptions } });
const desired = async (files: Record<string, string>, exceptions: object) => {
  const read = await readGiven(files);
  return { ...desiredOf(read, stateOf(exceptions)), read };
};
const kept = (kind: string, owner: string | null, name: string) => ({ kind, owner, name });
const TEAM = "name: T\nteam_settings: {}\n";

describe("files", () => {
  it("delete what they do not name, without exceptions", async () => {
    const { isComplete, notes } = await desired({ "default.yml": GLOBAL, "t.yml": TEAM }, {});
    expect(isComplete(kept("label", null, "Kept"))).toBe(true);
    expect(isComplete(kept("package", "T", "https://example.com/a.pkg"))).toBe(true);
    expect(notes).toEqual([]);
  });

  it("leave excepted labels, and fail if they name any", async () => {
    const { isComplete, notes, problems } = await desired({ "default.yml": GLOBAL }, { labels: true });
    expect(errorsOf(problems)).toEqual([]);
    expect(isComplete(kept("label", null, "Kept"))).toBe(false);
    expect(notes).toEqual(["gitops.exceptions.labels: labels stay as they are on the server"]);
    for (const labels of ["labels: []\n", "labels: [{name: New, query: SELECT 1}]\n"]) {
      const named = await desired({ "default.yml": GLOBAL + labels }, { labels: true });
      expect(errorsOf(named.problems)).toEqual([
        expect.stringMatching(/^default\.yml:3:1: labels are changed by hand \(gitops\.exceptions\.labels\)/),
      ]);
    }
  });

  it("may use excepted labels of the server", async () => {
    const policy = "policies: [{name: P, query: SELECT 1, labels_include_any: [Kept]}]\n";
    const used = await desired({ "default.yml": GLOBAL + policy }, { labels: true });
    expect(errorsOf(used.problems)).toEqual([]);
    const gone = await desired({ "default.yml": GLOBAL + policy }, {});
    expect(errorsOf(gone.problems)).toEqual([expect.stringContaining('"Kept", which will not exist')]);
  });

  it("leave excepted software where they name none, and apply it where they do", async () => {
    const absent = await desired({ "default.yml": GLOBAL, "t.yml": TEAM }, { software: true });
    for (const [kind, owner, name] of [
      ["package", "T", "https://example.com/a.pkg"],
      ["store_app", "T", "123/darwin"],
      ["setup_order", "T", "software"],
      ["package", "No team", "https://example.com/n.pkg"],
    ] as const)
      expect(absent.isComplete(kept(kind, owner, name)), `${kind} ${owner}`).toBe(false);
    expect(absent.notes).toEqual(["gitops.exceptions.software: software stays as it is on the server"]);
    const named = await desired(
      { "default.yml": GLOBAL, "t.yml": `${TEAM}software: {packages: []}\n` },
      { software: true },
    );
    expect(named.isComplete(kept("package", "T", "https://example.com/a.pkg"))).toBe(true);
    expect(named.isComplete(kept("package", "No team", "https://example.com/n.pkg"))).toBe(false);
    expect(named.notes[0]).toContain("but for what these files name, which is applied: t.yml");
  });

  it("may name excepted software of the server in policies, and no other", async () => {
    const policies = (software: string) => ({
      "default.yml": GLOBAL,
      "t.yml": `${TEAM}policies: [{name: P, query: SELECT 1, install_software: {${software}}}]\n`,
    });
    const files = await desired(policies(`hash_sha256: ${SHA}`), { software: true });
    expect(errorsOf(files.problems)).toEqual([]);
    const policy = files.things.find(({ kind }) => kind === "policy")!;
    expect(policy.value).toMatchObject({ install_software: { package: "https://example.com/a.pkg" } });
    const app = await desired(policies('app_store_id: "123"'), { software: true });
    expect(errorsOf(app.problems)).toEqual([]);
    const unknown = await desired(policies(`hash_sha256: ${"c".repeat(64)}`), { software: true });
    expect(errorsOf(unknown.problems)).toEqual([expect.stringContaining("has no package")]);
    const deleted = await desired(policies(`hash_sha256: ${SHA}`), {});
    expect(errorsOf(deleted.problems)).toEqual([expect.stringContaining("has no package")]);
    expect((await readGiven(policies(`hash_sha256: ${SHA}`))).problems.failed).toBe(true);
    expect((await readGiven(policies(`hash_sha256: ${SHA}`))).problems.failedForSure).toBe(false);
  });

  it("say what happens to excepted enroll secrets", async () => {
    const absent = await desired({ "default.yml": GLOBAL, "t.yml": TEAM }, { secrets: true });
    expect(absent.notes).toEqual(["gitops.exceptions.secrets: enroll secrets stay as they are on the server"]);
    const team = "name: T\nteam_settings: {secrets: [{secret: a-secret}]}\n";
    const named = await desired({ "default.yml": GLOBAL, "t.yml": team }, { secrets: true });
    expect(named.notes[0]).toContain("which is applied: t.yml");
    expect(named.things.some(({ kind, owner }) => kind === "enroll_secrets" && owner === "T")).toBe(true);
  });

  it("are exported without what is excepted, so that they can be applied again", () => {
    const state = stateOf({ labels: true, software: true, secrets: true });
    const text = [...exportFiles(state).files].filter(([path]) => path.endsWith(".yml")).join("\n");
    expect(text).not.toMatch(/labels:|software:|packages|secrets:|exceptions/);
    expect([...exportFiles(stateOf({})).files].join("\n")).toMatch(/labels:/);
  });
});

describe("svc apply", () => {
  const start = async (exceptions: object): Promise<TestApp> => {
    const t = await startApp();
    expect((await t.post("/labels", { name: "By hand", query: "SELECT 1" })).status).toBe(200);
    expect((await t.patch("/config", { gitops: { exceptions } })).status).toBe(200);
    return t;
  };
  const apply = async (t: TestApp, file: string, ...flags: string[]) => {
    const dir = await writeAll(new Map([["default.yml", file]]));
    return gitops(t, ["apply", "-f", join(dir, "default.yml"), "--yes", "--allow-delete", ...flags]);
  };
  const labels = async (t: TestApp) =>
    (await t.store.labels.list()).filter(({ label_type }) => label_type === "regular").map(({ name }) => name);

  it("keeps excepted labels, and the exceptions themselves, and says so", async () => {
    const t = await start({ labels: true });
    const mode = "org_settings: {gitops: {gitops_mode_enabled: true, repository_url: https://git.example.com/r}}\n";
    const applied = await apply(t, `${mode}controls: {}\n`);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(applied.stderr).toContain("gitops.exceptions.labels: labels stay as they are on the server");
    expect(await labels(t)).toEqual(["By hand"]);
    const { gitops: values } = (await (await t.get("/config")).json()) as AppConfig;
    expect(values).toMatchObject({ gitops_mode_enabled: true, exceptions: { labels: true } });
    expect((await t.post("/labels", { name: "Another", query: "SELECT 1" })).status).toBe(200);
    expect((await t.post("/queries", { name: "Q", query: "SELECT 1" })).status).toBe(403);
  });

  it("deletes labels without the exception, and refuses files that name excepted ones", async () => {
    const t = await start({ labels: true });
    const refused = await apply(t, `${GLOBAL}labels: [{name: New, query: SELECT 1}]\n`);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("labels are changed by hand")]);
    expect(await labels(t)).toEqual(["By hand"]);
    await t.patch("/config", { gitops: { exceptions: { labels: false } } });
    expect((await apply(t, GLOBAL)).exitCode).toBe(0);
    expect(await labels(t)).toEqual([]);
  });

  it("of an older version cannot change excepted labels either", async () => {
    const t = await start({ labels: true });
    const changes = [{ kind: "label", owner: null, name: "By hand", action: "delete" }];
    const reply = await t.post("/spec/apply", { changes });
    expect([reply.status, (await errorOf(reply)).errors![0]!.reason]).toEqual([
      422,
      expect.stringContaining("gitops.exceptions.labels"),
    ]);
  });
});
