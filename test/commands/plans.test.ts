import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFleet } from "../support/fleet.ts";

const documents = `
apiVersion: v1
kind: policy
spec: { name: Up, query: SELECT 1, platform: linux }
---
apiVersion: v1
kind: query
spec: { name: Users, query: SELECT * FROM users, interval: 60 }
`;

describe("plans", () => {
  it("are made of files, shown with their hosts, and applied", async () => {
    const fleet = await startFleet();
    const dir = await mkdtemp(join(tmpdir(), "svc-plans-"));
    const file = join(dir, "more.yml");
    await writeFile(file, documents);
    const run = async (...argv: string[]) => {
      const { stdout, stderr, exitCode } = await fleet.run(["plans", ...argv]);
      expect(exitCode, stderr).toBe(0);
      return { stdout, stderr };
    };
    const tried = await run("create", "-f", file, "--dry-run");
    expect(tried.stdout).toContain('+ policy "Up"');
    expect(tried.stderr).toContain("nothing was kept");
    expect(JSON.parse((await run("list", "-o", "json")).stdout)).toEqual([]);

    const created = await run("create", "-f", file, "--name", "New");
    expect(created.stdout).toMatch(/Plan: 2 to add, 0 to change, 0 to remove/);
    expect(created.stdout).toMatch(/Hosts:\n {2}policy "Up":\n {4}\d+ hosts? gets? it: /);
    // The ids of dry runs are not used again.
    const id = /kept as plan (\d+) \(New\): apply it with `svc plans apply \1`/.exec(created.stderr)?.[1] ?? "";
    expect((await run("get", id)).stdout).toMatch(new RegExp(`^plan ${id} \\(New\\) of .*: pending, expires at`));
    expect((await run("list", "--state", "pending")).stdout).toMatch(/pending\s+New\s+2\s+0\s+0/);
    const unconfirmed = await fleet.run(["plans", "apply", id, "--no-input"]);
    expect(unconfirmed.exitCode).toBe(2);
    const dry = await run("apply", id, "--dry-run");
    expect(dry.stderr).toContain(`would apply plan ${id} (New)`);
    expect((await run("apply", id, "--yes")).stderr).toContain(`applied plan ${id} (New): 2 to add`);
    expect((await run("apply", id, "--yes")).stderr).toContain("was applied already");
    expect(JSON.parse((await run("get", id, "-o", "json")).stdout)).toMatchObject({ state: "applied", name: "New" });
    const same = await fleet.run(["plans", "create", "-f", file]);
    expect(same.exitCode).toBe(1);
    expect(same.stderr).toContain("the files change nothing");
  });

  it("are refused if something has changed, and deleted", async () => {
    const fleet = await startFleet();
    const dir = await mkdtemp(join(tmpdir(), "svc-plans-"));
    const input = join(dir, "changes.json");
    const change = { kind: "query", owner: null, name: "Q", action: "set", value: { query: "SELECT 1" } };
    await writeFile(input, JSON.stringify({ changes: [change] }));
    expect((await fleet.run(["plans", "create", "--input", input])).exitCode).toBe(0);
    expect((await fleet.run(["plans", "create", "--input", input])).exitCode).toBe(0);
    expect((await fleet.run(["plans", "apply", "1", "--yes"])).exitCode).toBe(0);
    const late = await fleet.run(["plans", "apply", "2", "--yes"]);
    expect(late.exitCode).toBe(5);
    expect(late.stderr).toContain('query "Q" was created since the plan was made');
    expect((await fleet.run(["plans", "delete", "2", "--yes"])).stderr).toContain("deleted plan 2");
    expect((await fleet.run(["plans", "get", "2"])).exitCode).toBe(3);
    const both = await fleet.run(["plans", "create", "--input", input, "-f", input]);
    expect(both.exitCode).toBe(2);
  });
});
