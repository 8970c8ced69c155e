// `svc drift`: differences between the server and the files, and who made them.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startApp } from "../support/app.ts";
import { sendInto } from "../support/cli.ts";
import { rulesEngines } from "../support/engines.ts";
import { applyIn, gitops, mainFiles, writeAll } from "../support/gitops-cli.ts";
import { makeSession, makeUser } from "../support/make.ts";

const FILES = new Map([
  [
    "default.yml",
    `org_settings:
  org_info: {org_name: Example}
  secrets: [{secret: first-secret-xx}]
controls: {}
policies:
  - {name: Disk, query: SELECT 1}
  - {name: Firewall, query: SELECT 1}
reports:
  - {name: Users, query: SELECT 1}
`,
  ],
  ["teams/ops.yml", "name: Ops\nsettings: {description: Operations}\npolicies:\n  - {name: Disk, query: SELECT 2}\n"],
]);

describe.each(rulesEngines)("svc drift on %s", (engine) => {
  it("reports who changed what, and when", async () => {
    const app = await startApp({ engine });
    const dir = await writeAll(FILES);
    await applyIn(app, dir);
    const drift = async (...more: string[]) => gitops(app, ["drift", ...(await mainFiles(dir)), ...more]);
    expect(await drift("--exit-code")).toMatchObject({
      exitCode: 0,
      stdout: "No drift: the server matches the files.\n",
    });

    const mallory = await makeUser(app, "admin", { name: "Mallory Meddler" });
    const token = await makeSession(app, mallory.id);
    const as = app.as(token);
    app.clock.advance(60_000);
    const when = app.clock.iso();
    const ids = new Map(
      ((await (await app.get("/global/policies")).json()) as { policies: { id: number; name: string }[] }).policies.map(
        ({ id, name }) => [name, id],
      ),
    );
    await as.patch("/config", { org_info: { org_name: "Meddled" } });
    await as.patch(`/global/policies/${ids.get("Disk")}`, { resolution: "Ask Mallory" });
    await as.post("/global/policies/delete", { ids: [ids.get("Firewall")] });
    await as.post("/queries", { name: "Spying", query: "SELECT 3" });
    await as.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "other-secret-xx" }] } });

    const { exitCode, stdout } = await drift("--exit-code", "-o", "json");
    expect(exitCode).toBe(9);
    const { drifted, things } = JSON.parse(stdout) as { drifted: number; things: Record<string, unknown>[] };
    expect(drifted).toBe(5);
    expect(things.map(({ drift: how, kind, name }) => [how, kind, name])).toEqual([
      ["changed", "config", "org_info"],
      ["changed", "enroll_secrets", "enroll_secrets"],
      ["changed", "policy", "Disk"],
      ["missing", "policy", "Firewall"],
      ["extra", "query", "Spying"],
    ]);
    for (const one of things)
      expect(one, JSON.stringify(one)).toMatchObject({ changed_by: "Mallory Meddler", changed_at: when });
    expect(things[0]).toMatchObject({ fields: [{ path: "org_name", old: "Example", new: "Meddled" }] });
    // The team's policy of the same name is unchanged.
    expect(things.some(({ team }) => team === "Ops")).toBe(false);

    const text = await drift();
    expect(text.exitCode).toBe(0);
    expect(text.stdout).toContain(`changed: policy "Disk" - by Mallory Meddler, ${when}`);
    expect(text.stdout).toContain('missing: policy "Firewall" - by Mallory Meddler');
    expect(text.stdout).toContain("Drift: ");
  });
});

describe("svc drift", () => {
  it("reports an unknown user if the feed does not record the change, or cannot be read", async () => {
    const app = await startApp();
    const dir = await writeAll(FILES);
    await applyIn(app, dir);
    // A change that is impossible through the API.
    const at = { created_at: app.clock.iso(), updated_at: app.clock.iso() };
    await app.store.queries.insert({ ...at, name: "Ghost", query: "SELECT 1" });
    const { stdout } = await gitops(app, ["drift", "-f", join(dir, "default.yml"), "-f", join(dir, "teams/ops.yml")]);
    expect(stdout).toContain('extra:   query "Ghost" - by an unknown user');
    const into = sendInto(app);
    const hidden = await gitops(app, ["drift", ...(await mainFiles(dir))], {
      send: (url, init) =>
        url.includes("/activities?") ? Promise.resolve(new Response("{}", { status: 403 })) : into(url, init),
    });
    expect(hidden).toMatchObject({ exitCode: 0 });
    expect(hidden.stderr).toContain("it is unknown who made the changes");
  });
});
