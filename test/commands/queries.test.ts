// Saved queries, their reports and schedules, and packs, on the command line.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Fleet, startFleet } from "../support/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
const run = (...argv: string[]) => fleet.run(argv);
async function out(...argv: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await run(...argv);
  expect(exitCode, stderr).toBe(0);
  return stdout;
}
const json = async (...argv: string[]) => JSON.parse(await out(...argv, "-o", "json"));

describe("queries", () => {
  it("are saved with the fields from flags, and a dry run stores nothing", async () => {
    const given = ["--name", "Uptime", "--query", "SELECT * FROM uptime", "--interval", "600", "--platform", "linux"];
    const more = ["--no-observer-can-run", "--automations-enabled", "--labels-include-any", "Loaners,All Linux"];
    const dry = await out("queries", "create", ...given, ...more, "--dry-run");
    expect(dry).toContain("would save query Uptime");
    expect(await fleet.app.store.queries.count()).toBe(3);
    expect(await json("queries", "create", ...given, ...more, "--team", "Workstations")).toMatchObject({
      name: "Uptime",
      interval: 600,
      platform: "linux",
      automations_enabled: true,
      team_id: fleet.teamId,
      labels_include_any: [{ name: "Loaners" }, { name: "All Linux" }],
    });
    expect(await json("queries", "get", "uptime", "--team", "workstations")).toMatchObject({ name: "Uptime" });
  });

  it("report why the server refuses them", async () => {
    const { exitCode, stderr } = await run(
      "queries",
      "create",
      "--name",
      "x",
      "--query",
      "SELECT 1",
      "--platform",
      "beos",
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain("query payload verification: query's platform must be");
    expect((await run("queries", "create", "--name", "Local users", "--query", "SELECT 1")).exitCode).toBe(5);
    expect((await run("queries", "get", "nothing")).exitCode).toBe(3);
    expect((await run("queries", "update", "Local users")).exitCode).toBe(2);
  });

  it("are listed by scope, and in the format of files", async () => {
    const names = async (...argv: string[]) =>
      ((await json("queries", "list", ...argv)) as { name: string }[]).map(({ name }) => name);
    expect(await names()).toEqual(["Local users", "USB devices"]);
    expect(await names("--team", "Workstations")).toEqual(["Team users"]);
    expect(await names("--team", "Workstations", "--merge-inherited")).toHaveLength(3);
    expect(await names("--query", "usb")).toEqual(["USB devices"]);
    const specs = await out("queries", "list", "--spec", "-o", "yaml");
    const file = join(fleet.files, "back.yml");
    await writeFile(file, specs.replace("interval: 3600", "interval: 7200"));
    expect((await run("queries", "apply", "--input", file)).stderr).toContain("applied 2 queries");
    expect(await json("queries", "get", "Local users")).toMatchObject({ interval: 7200 });
  });

  it("change, and the plan of a dry run shows the changes", async () => {
    const dry = await out("queries", "update", "Local users", "--interval", "60", "--description", "d", "--dry-run");
    expect(dry).toBe('would change query Local users\n  description: "" -> "d"\n  interval: 3600 -> 60\n');
    expect(await json("queries", "update", "1", "--interval", "60")).toMatchObject({ id: 1, interval: 60 });
  });

  it("are deleted after confirmation", async () => {
    expect((await run("queries", "delete", "Local users")).exitCode).toBe(2);
    expect((await run("queries", "delete", "Local users", "USB devices", "--yes")).exitCode).toBe(2);
    expect((await run("queries", "delete", "Local users", "USB devices", "--confirm", "3")).exitCode).toBe(2);
    expect((await run("queries", "delete", "Local users", "nothing", "--confirm", "2")).exitCode).toBe(3);
    expect(await fleet.app.store.queries.count()).toBe(3);
    expect(await out("queries", "delete", "Local users", "1", "--dry-run")).toContain("would delete query Local users");
    await out("queries", "delete", "Team users", "--team", "Workstations", "--yes");
    await out("queries", "delete", "Local users", "USB devices", "--confirm", "2");
    expect(await fleet.app.store.queries.count()).toBe(0);
  });

  it("show their report in every format", async () => {
    const row = { uid: "501", username: "ada", host_id: 1, host_name: "mac-1.example.com" };
    expect(await json("queries", "report", "Local users")).toMatchObject([row]);
    const table = (await out("queries", "report", "Local users")).split("\n");
    expect(table[0]).toMatch(/^HOST_?.?ID\s+HOST.NAME\s+LAST.FETCHED\s+UID\s+USERNAME$/);
    expect(table[1]).toContain("ada");
    const csv = await out("queries", "report", "Local users", "--csv");
    expect(csv).toBe(
      `host_id,host_name,last_fetched,uid,username\n1,mac-1.example.com,${fleet.app.clock.iso()},501,ada\n`,
    );
    expect(await out("queries", "report", "Local users", "-o", "csv")).toBe(csv);
    expect(await json("queries", "report", "Local users", "--hosts-of-team", "Lab")).toEqual([]);
    expect(await json("queries", "host-report", "Local users", "mac-1.example.com")).toEqual([
      { uid: "501", username: "ada" },
    ]);
    const none = await run("queries", "host-report", "Local users", "linux-1.example.com");
    expect(none).toMatchObject({ stdout: "", stderr: "the host has not reported results yet\n", exitCode: 0 });
  });

  it("are scheduled as copies by the older commands", async () => {
    const added = await json("queries", "schedule", "add", "USB devices", "--interval", "60", "--shard", "5");
    expect(added).toMatchObject({ interval: 60, shard: 5, name: expect.stringMatching(/^Copy of USB devices \(/) });
    expect(await json("queries", "schedule", "list")).toHaveLength(2);
    expect(await json("queries", "schedule", "list", "--team", "Workstations")).toMatchObject([{ name: "Team users" }]);
    await out("queries", "schedule", "update", String(added.id), "--interval", "90");
    expect(await json("queries", "get", String(added.id))).toMatchObject({ interval: 90 });
    expect((await run("queries", "schedule", "delete", added.name)).exitCode).toBe(2);
    await out("queries", "schedule", "delete", added.name, "--yes");
    expect((await run("queries", "get", String(added.id))).exitCode).toBe(3);
  });
});

describe("packs", () => {
  it("are created for hosts, labels and teams by name", async () => {
    const targets = ["--host", "mac-1.example.com,linux-1.example.com", "--label", "Loaners", "--team", "Lab"];
    const pack = await json("packs", "create", "--name", "Incident", ...targets);
    expect(pack).toMatchObject({
      name: "Incident",
      host_ids: [1, 2],
      labels: [{ display_text: "Loaners" }],
      teams: [{ display_text: "Lab" }],
    });
    expect(await json("packs", "update", "Incident", "--host", "", "--disabled")).toMatchObject({
      host_ids: [],
      disabled: true,
      label_ids: pack.label_ids,
    });
    expect((await run("packs", "create", "--name", "x", "--label", "nobody")).exitCode).toBe(3);
    expect((await run("packs", "delete", "Incident")).exitCode).toBe(2);
    await out("packs", "delete", "Incident", "--yes");
    expect(await json("packs", "list")).toMatchObject([{ name: "Compliance", query_count: 1 }]);
  });

  it("schedule queries", async () => {
    const entry = await json("packs", "schedule", "add", "Compliance", "Local users", "--interval", "60", "--snapshot");
    expect(entry).toMatchObject({ name: "Local users", interval: 60, snapshot: true, removed: true });
    expect(await json("packs", "scheduled", "Compliance")).toHaveLength(2);
    const plan = await out("packs", "schedule", "update", String(entry.id), "--interval", "90", "--dry-run");
    expect(plan).toBe("would change scheduled query Local users\n  interval: 60 -> 90\n");
    await out("packs", "schedule", "update", String(entry.id), "--interval", "90");
    expect(await json("packs", "schedule", "get", String(entry.id))).toMatchObject({ interval: 90 });
    await out("packs", "schedule", "delete", String(entry.id), "--yes");
    expect((await run("packs", "schedule", "get", String(entry.id))).exitCode).toBe(3);
  });

  it("are exported to a file and applied from it", async () => {
    const file = join(fleet.files, "back.yml");
    await writeFile(
      file,
      (await out("packs", "list", "--spec", "-o", "yaml")).replace("interval: 300", "interval: 30"),
    );
    await out("packs", "apply", "--input", file);
    expect(await json("packs", "scheduled", "Compliance")).toMatchObject([{ name: "USB devices", interval: 30 }]);
    expect((await run("packs", "apply", "--input", join(fleet.files, "token.txt"))).exitCode).toBe(2);
  });
});
