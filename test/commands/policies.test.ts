import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makePolicy } from "../support/make.ts";

describe("svc policies", () => {
  let fleet: Fleet;
  beforeEach(async () => {
    fleet = await startFleet();
  });
  const run = (...argv: string[]) => fleet.run(["policies", ...argv]);
  const json = async (...argv: string[]) => {
    const result = await run(...argv, "-o", "json");
    expect(result.exitCode, result.stderr).toBe(0);
    return JSON.parse(result.stdout);
  };
  const names = async (...argv: string[]) => (await json("list", ...argv)).map(({ name }: { name: string }) => name);
  const rows = () => fleet.app.store.policies.list();

  it("lists the global policies, those of a team, and those that it inherits", async () => {
    expect(await names()).toEqual(["Disk encrypted"]);
    expect(await names("--team", "Workstations")).toEqual(["Firewall on"]);
    expect(await names("--team", "Workstations", "--inherited")).toEqual(["Disk encrypted", "Firewall on"]);
    expect(await names("--team", "none")).toEqual([]);
    expect(await names("--query", "nothing")).toEqual([]);
    const { stdout } = await run("list");
    expect(stdout).toMatch(/^ID\s+NAME\s+PLATFORM\s+CRITICAL\s+PASSING\s+FAILING\s+NOT ANSWERED\s+TEAM\n/);
    expect((await run("list", "--inherited")).exitCode).toBe(2);
    for (let i = 0; i < 3; i++) await makePolicy(fleet.app);
    const cut = await run("list", "--limit", "2", "-o", "json");
    expect(JSON.parse(cut.stdout)).toHaveLength(2);
    expect(cut.stderr).toContain("first 2 of 4");
    expect(await json("count")).toEqual({ count: 4 });
    expect((await run("count", "--team", "Workstations", "--inherited")).stdout).toBe("5\n");
  });

  it("lists what automations did, and deletes results", async () => {
    expect(await json("automation-activities", "Disk encrypted", "--status", "error")).toEqual([]);
    expect((await run("automation-activities", "Firewall on")).exitCode).not.toBe(0);
    const [before] = await rows();
    const tried = await run("reset-results", "Disk encrypted", "--dry-run");
    expect(tried.exitCode, tried.stderr).toBe(0);
    expect((await rows())[0]!.result_id).toBe(before!.result_id);
    const refused = await run("reset-results", "Disk encrypted");
    expect(refused.stderr).toContain("--yes");
    const done = await run("reset-results", "Disk encrypted", "--yes");
    expect(done.exitCode, done.stderr).toBe(0);
    expect((await rows()).find(({ id }) => id === before!.id)!.result_id).not.toBe(before!.result_id);
  });

  it("creates, shows, changes and deletes them", async () => {
    const created = await json(
      "create",
      "--name",
      "USB off",
      "--query",
      "SELECT 1",
      "--team",
      "Workstations",
      "--critical",
    );
    expect(created).toMatchObject({ name: "USB off", team_id: fleet.teamId, critical: true });
    expect(await json("get", "USB off", "--team", "Workstations")).toEqual(created);
    expect(await json("get", String(created.id), "--team", "Workstations")).toEqual(created);
    const changed = await json(
      "update",
      "USB off",
      "--team",
      "Workstations",
      "--no-critical",
      "--platform",
      "linux,darwin",
    );
    expect(changed).toMatchObject({ id: created.id, critical: false, platform: "linux,darwin" });
    const unsure = await run("delete", "USB off", "--team", "Workstations");
    expect(unsure.exitCode).toBe(2);
    expect(await json("delete", "USB off", "--team", "Workstations", "--yes")).toMatchObject({ deleted: 1 });
    expect((await rows()).map(({ name }) => name)).not.toContain("USB off");
  });

  it("requires the number before it deletes several", async () => {
    await makePolicy(fleet.app, { name: "Other" });
    expect((await run("delete", "Other", "Disk encrypted", "--yes")).exitCode).toBe(2);
    expect((await run("delete", "Other", "Disk encrypted", "--confirm", "3")).exitCode).toBe(2);
    expect(await rows()).toHaveLength(3);
    expect((await run("delete", "Other", "Disk encrypted", "--confirm", "2")).exitCode).toBe(0);
    expect(await names()).toEqual([]);
  });

  it("reports the server's refusal, with its exit code", async () => {
    const taken = await run("create", "--name", "Disk encrypted", "--query", "SELECT 1");
    expect(taken.exitCode).toBe(5);
    const bad = await run("create", "--name", "x", "--query", "SELECT 1", "--platform", "amiga");
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr).toContain("platform");
    const near = await run("get", "Disk encrypte");
    expect(near.exitCode).toBe(3);
    expect(near.stderr).toContain("did you mean Disk encrypted");
    expect((await run("get", "Firewall on")).exitCode).toBe(3);
    expect((await run("update", "Disk encrypted")).exitCode).toBe(2);
    expect((await run("create", "--query", "SELECT 1")).stderr).toContain("--name");
    expect((await run("reset")).exitCode).toBe(2);
  });

  it("changes nothing in a dry run", async () => {
    const before = await rows();
    for (const argv of [
      ["create", "--name", "x", "--query", "SELECT 1"],
      ["update", "Disk encrypted", "--query", "SELECT 2"],
      ["delete", "Disk encrypted"],
      ["reset", "Disk encrypted"],
      ["apply", "--input", join(fleet.files, "policies.yml")],
    ]) {
      const { exitCode, stdout, stderr } = await run(...argv, "--dry-run");
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain("would ");
    }
    expect(await rows()).toEqual(before);
    expect(await fleet.app.store.activities.list()).not.toContainEqual(
      expect.objectContaining({ type: "edited_policy" }),
    );
  });

  it("lists the hosts that fail and those that pass", async () => {
    const hosts = async (...argv: string[]) =>
      (await json("hosts", ...argv)).map(({ hostname }: { hostname: string }) => hostname);
    expect(await hosts("Disk encrypted", "--failing")).toEqual(["mac-1.example.com"]);
    expect(await hosts("Disk encrypted", "--passing")).toEqual([]);
    expect(await hosts("Disk encrypted")).toEqual(["mac-1.example.com"]);
    expect(await hosts("Disk encrypted", "--failing", "--team", "Workstations")).toEqual(["mac-1.example.com"]);
    expect(await hosts("Disk encrypted", "--failing", "--team", "Lab")).toEqual([]);
    expect(await hosts("Firewall on", "--failing", "--team", "Workstations")).toEqual([]);
    expect((await run("hosts", "Disk encrypted", "--failing", "--passing")).exitCode).toBe(2);
  });

  it("applies files completely or not at all", async () => {
    const applied = await json("apply", "--input", join(fleet.files, "policies.yml"));
    expect(applied).toMatchObject({ applied: 2 });
    expect((await rows()).map(({ name }) => name).sort()).toEqual([
      "Disk encrypted",
      "Firewall on",
      "Guest account off",
    ]);
    await writeFile(
      join(fleet.files, "bad.yml"),
      "specs:\n- {name: a, query: SELECT 1}\n- {name: b, query: SELECT 1, team: Nowhere}\n",
    );
    expect((await run("apply", "--input", join(fleet.files, "bad.yml"))).exitCode).toBe(3);
    expect(await rows()).toHaveLength(3);
  });

  it("creates policies without the text service if there is none", async () => {
    const { exitCode, stderr } = await run("create", "--name", "x", "--query", "SELECT 1", "--autofill");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("no text service is configured");
  });
});
