// `svc export` with real servers: the files match the server, and a plan of them is empty.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigurationState } from "../../src/api/edge/configuration.ts";
import { exportFiles } from "../../src/gitops/export/export.ts";
import { startApp } from "../support/app.ts";
import { newHome, sendInto } from "../support/cli.ts";
import { configurations, environmentOf } from "../support/configurations.ts";
import { rulesEngines } from "../support/engines.ts";
import {
  applyIn,
  exportTo,
  filesIn,
  gitops,
  HOSTS,
  parsed,
  planIn,
  stateOf,
  withHosts,
  writeAll,
} from "../support/gitops-cli.ts";

describe.each(rulesEngines)("svc export of a server on %s", (engine) => {
  it("exports what was applied, for generated configurations, and a plan of it is empty", async () => {
    const app = await withHosts(await startApp({ engine }));
    const { defaults } = await stateOf(app);
    await fc.assert(
      fc.asyncProperty(configurations({ defaults, hosts: HOSTS, authorities: true }), async (things) => {
        const given = exportFiles({ things, defaults });
        const environment = environmentOf(given.variables);
        const first = await writeAll(given.files);
        await applyIn(app, first, environment);
        const second = await newHome();
        await exportTo(app, second);
        expect(await filesIn(second, environment)).toEqual(parsed(given.files, environment));
        expect(await planIn(app, second, environment)).toEqual([]);
      }),
      { numRuns: 6, seed: 11, endOnFailure: true },
    );
  });
});

describe("svc export", () => {
  it("reports what a newer server has and this version does not know", async () => {
    const app = await startApp();
    const send = sendInto({
      async raw(path, init) {
        const reply = await app.raw(path, init);
        if (!path.endsWith("/spec/state")) return reply;
        const state = (await reply.json()) as ConfigurationState;
        const newer = { kind: "profile", owner: null, name: "Wi-Fi", value: {}, revision: "1" };
        return Response.json({ ...state, things: [...state.things, newer] });
      },
    });
    const dir = await newHome();
    const exported = await gitops(app, ["export", "--dir", dir], { send });
    expect(exported.exitCode).toBe(0);
    const planned = await gitops(app, ["plan", "-f", join(dir, "default.yml"), "-o", "json"], { send });
    expect(planned.exitCode).toBe(0);
    for (const { stderr } of [exported, planned])
      expect(stderr).toContain("does not know these kinds of objects, which the server has: profile");
    expect(JSON.parse(planned.stdout).changes).toEqual([]);
  });

  it("overwrites nothing by default, and reports files that it keeps", async () => {
    const app = await startApp();
    const dir = join(await newHome(), "new", "folder");
    await exportTo(app, dir);
    expect(await readFile(join(dir, "default.yml"), "utf8")).toContain("org_name: Test");
    await app.patch("/config", { org_info: { org_name: "Other" } });
    await mkdir(join(dir, "teams"), { recursive: true });
    await writeFile(join(dir, "teams", "gone.yml"), "name: Gone\n");

    const refused = await gitops(app, ["export", "--dir", dir]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("--force");
    expect(await readFile(join(dir, "default.yml"), "utf8")).toContain("org_name: Test");

    const forced = await gitops(app, ["export", "--dir", dir, "--force", "-o", "json"]);
    expect(forced.exitCode).toBe(0);
    expect(forced.stderr).toContain("[!] teams/gone.yml is not part of this export");
    expect(JSON.parse(forced.stdout).files).toContain("teams/no-team.yml");
    expect(await readFile(join(dir, "default.yml"), "utf8")).toContain("org_name: Other");
    expect(await readFile(join(dir, "teams", "gone.yml"), "utf8")).toBe("name: Gone\n");
    expect((await gitops(app, ["export", "--dir", join(dir, "default.yml")])).exitCode).toBe(1);
    expect((await gitops(app, ["export"])).exitCode).toBe(2);
  });

  it("of a server without a license contains no teams, and a plan of it is empty", async () => {
    const app = await startApp({ tier: "free" });
    await app.post("/labels", { name: "Laptops", query: "SELECT 1 FROM battery" });
    await app.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "the-only-secret" }] } });
    const dir = await newHome();
    await exportTo(app, dir);
    expect((await readdir(dir)).sort()).toEqual([".env.example", ".gitignore", "default.yml", "lib"]);
    expect(await planIn(app, dir, { ENROLL_SECRET: "the-only-secret" })).toEqual([]);
    expect(await planIn(app, dir, { ENROLL_SECRET: "another" })).toHaveLength(1);
  });

  it("contains no secrets", async () => {
    const app = await startApp();
    await app.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "a-very-secret-secret" }] } });
    await app.patch("/config", { smtp_settings: { password: "another-secret" } });
    const dir = await newHome();
    const { stdout, stderr } = await exportTo(app, dir);
    expect(stderr).toContain("2 secrets to fill in");
    const texts = JSON.stringify(await filesIn(dir, { ENROLL_SECRET: "x", SMTP_SETTINGS_PASSWORD: "y" }));
    expect(`${texts}${stdout}${stderr}`).not.toMatch(/very-secret|another-secret/);
  });
});
