import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet();
});
// biome-ignore lint/suspicious/noExplicitAny: whatever the command prints
const json = async (...argv: string[]): Promise<any> => {
  const { stdout, stderr, exitCode } = await fleet.run([...argv, "-o", "json"]);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
};
const hostnames = async (label: string) =>
  (await json("labels", "hosts", label)).map(({ hostname }: { hostname: string }) => hostname);
const label = async (name: string) => fleet.app.store.labels.first({ where: eq("name", name) });

describe("labels list", () => {
  it("shows type, kind of membership and the number of hosts", async () => {
    const { stdout } = await fleet.run(["labels", "list", "--all"]);
    expect(stdout.split("\n")[0]).toMatch(/^ID\s+NAME\s+TYPE\s+MEMBERS\s+PLATFORM\s+HOSTS\s+DESCRIPTION$/);
    expect(stdout).toMatch(/Loaners\s+regular\s+manual\s+1/);
    expect(stdout).toMatch(/macOS\s+builtin\s+dynamic\s+darwin\s+0/);
  });

  it("shows as many as requested, and reports if there are more", async () => {
    const now = fleet.app.clock.iso();
    const label = { created_at: now, updated_at: now, label_type: "regular", label_membership_type: "manual" } as const;
    await fleet.app.store.labels.insertMany(Array.from({ length: 600 }, (_, n) => ({ ...label, name: `label ${n}` })));
    const shown = async (...flags: string[]) => {
      const { stdout, stderr } = await fleet.run(["labels", "list", "-o", "ndjson", "--fields", "id", ...flags]);
      return [new Set(stdout.trim().split("\n")).size, stderr.includes("are shown; use")];
    };
    expect(await shown()).toEqual([100, true]);
    expect(await shown("--limit", "550", "--order-key", "name")).toEqual([550, true]);
    expect(await shown("--all")).toEqual([614, false]);
    expect(await shown("--limit", "614")).toEqual([614, false]);
    // The reply contains no page information; `svc api` also finds the end by itself.
    const { stdout } = await fleet.run(["api", "GET", "/labels", "--paginate"]);
    expect(new Set(JSON.parse(stdout).labels.map(({ id }: { id: number }) => id)).size).toBe(614);
    const summary = await fleet.run(["api", "GET", "/labels/summary", "--paginate", "-F", "per_page=10"]);
    expect(JSON.parse(summary.stdout).labels).toHaveLength(614);
  });

  it("prints the format that apply accepts", async () => {
    const specs = await json("labels", "list", "--spec");
    expect(specs.at(-1)).toMatchObject({ name: "Loaners", hosts: [expect.stringMatching(/^SERIAL/)] });
    const file = join(fleet.files, "specs.json");
    await writeFile(file, JSON.stringify({ specs }));
    const before = await fleet.app.store.labels.list();
    expect((await fleet.run(["labels", "apply", "--input", file])).exitCode).toBe(0);
    expect(await fleet.app.store.labels.list()).toEqual(before);
    expect((await json("labels", "list", "--short"))[0]).toMatchObject({ id: 1, name: "All Hosts" });
  });
});

describe("labels get", () => {
  it("accepts an id or a name in any Unicode form, and suggests similar names", async () => {
    const { id } = await json("labels", "create", "--name", "Café");
    for (const text of [String(id), "Café", "Cafe\u0301", "café"])
      expect((await json("labels", "get", text)).id).toBe(id);
    const { exitCode, stderr } = await fleet.run(["labels", "get", "Loaner"]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("did you mean Loaners?");
    expect((await json("labels", "get", "Loaners")).host_ids).toEqual([2]);
    expect(await json("labels", "get", "macOS", "--spec")).toMatchObject({ name: "macOS", platform: "darwin" });
  });
});

describe("labels create", () => {
  it("creates labels by query, by expression, and with given hosts", async () => {
    const query = await json("labels", "create", "--name", "Q", "--query", "SELECT 1", "--platform", "darwin");
    expect(query).toMatchObject({ label_membership_type: "dynamic", query: "SELECT 1", platform: "darwin" });
    await json("labels", "create", "--name", "W", "--where", "platform in (darwin, windows)");
    expect(await hostnames("W")).toEqual(["mac-1.example.com", "win-1.example.com"]);
    const vital = ["--vital", "end_user_idp_group", "--value", "staff"];
    expect((await json("labels", "create", "--name", "V", ...vital)).criteria).toEqual({
      vital: "end_user_idp_group",
      value: "staff",
    });
    await json("labels", "create", "--name", "I", "--host-ids", "1,3", "--host-ids", "2");
    expect(await hostnames("I")).toHaveLength(3);
  });

  it("reports how many of the given ids are known, and fails for a name that is not", async () => {
    const { stderr, exitCode } = await fleet.run(["labels", "create", "--name", "H", "--host-ids", "1,4242,4243"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain("created label H");
    expect(stderr).toContain("3 hosts were given; 1 of them is known and was added to the label");
    expect(await hostnames("H")).toEqual(["mac-1.example.com"]);
    const unknown = await fleet.run(["labels", "create", "--name", "N", "--hosts", "mac-1.example.com,x"]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([3, expect.stringContaining("there is no host x")]);
    expect((await fleet.run(["labels", "get", "N"])).exitCode).toBe(3);
  });

  it("reports the reason of a refusal, and changes nothing", async () => {
    const bad: [string[], string, number][] = [
      [["--name", "X", "--where", "platfrm = darwin"], 'did you mean "platform"?\n  platfrm = darwin\n  ^', 2],
      [["--name", "macOS"], "built-in", 1],
      [["--name", "X", "--query", "SELECT 1", "--hosts", "1"], "only one of", 1],
      [["--name", "X", "--host-ids", "one"], "host_ids", 1],
      [["--name", "Loaners"], "exists", 5],
    ];
    const before = await fleet.app.store.labels.count();
    for (const [flags, reason, code] of bad) {
      const { exitCode, stderr, stdout } = await fleet.run(["labels", "create", ...flags]);
      expect(exitCode, stderr).toBe(code);
      expect(stderr).toContain(reason);
      expect(stdout).toBe("");
    }
    const unnamed = await fleet.run(["labels", "create", "--query", "SELECT 1"]);
    expect(unnamed.exitCode).toBe(2);
    expect(unnamed.stderr).toContain("--name");
    const dry = await fleet.run(["labels", "create", "--name", "X", "--hosts", "1", "--dry-run"]);
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toContain("would create label X");
    expect(await fleet.app.store.labels.count()).toBe(before);
  });
});

describe("labels uses", () => {
  it("lists what names a label, and what a deletion does to it", async () => {
    await fleet.run(["policies", "create", "--name", "Kept", "--query", "SELECT 1", "--labels-include-any", "Loaners"]);
    await fleet.run(["labels", "create", "--name", "W", "--where", "label = Loaners"]);
    const { stdout, stderr } = await fleet.run(["labels", "uses", "Loaners"]);
    expect(stdout).toMatch(/policy\s+\d+\s+Kept\s+include_any\s+refused/);
    expect(stdout).toMatch(/label\s+\d+\s+W\s+selector\s+unmatched/);
    expect(stderr).toBe("");
    expect(await json("labels", "uses", "Loaners")).toMatchObject({ count: 2, hidden_count: 0 });
    expect((await fleet.run(["labels", "uses", "nothing"])).exitCode).toBe(3);
  });
});

describe("labels preview", () => {
  it("counts hosts, and says what a label would gain and lose", async () => {
    expect((await fleet.run(["labels", "preview", "--where", "platform in (darwin, windows)"])).stdout).toBe(
      "2 hosts\n",
    );
    const edit = await fleet.run(["labels", "preview", "--label", "Loaners", "--hosts", "mac-1.example.com"]);
    expect(edit.stdout).toMatch(/^1 host\ngained: 1 \(mac-1.*\)\nlost: 1 \(.+\)\n$/);
    expect(await hostnames("Loaners")).toHaveLength(1);
    const sql = await fleet.run(["labels", "preview", "--query", "SELECT 1"]);
    expect(sql.stdout).toContain("3 hosts will be asked");
    expect((await json("labels", "preview", "--host-ids", "1,4242")).unknown_hosts).toEqual({
      count: 1,
      names: ["4242"],
    });
    expect((await fleet.run(["labels", "preview"])).exitCode).toBe(2);
    expect((await fleet.run(["labels", "preview", "--where", "platfrm = darwin"])).stderr).toContain(
      'did you mean "platform"?',
    );
  });
});

describe("labels update", () => {
  it("changes the given fields, and replaces hosts", async () => {
    await json("labels", "update", "Loaners", "--name", "Lent", "--hosts", "mac-1.example.com,win-1.example.com");
    expect(await hostnames("Lent")).toEqual(["mac-1.example.com", "win-1.example.com"]);
    await json("labels", "update", "Lent", "--description", "d");
    expect(await hostnames("Lent")).toHaveLength(2);
    const dry = await fleet.run(["labels", "update", "Lent", "--hosts", "", "--dry-run"]);
    expect(dry.stdout).toContain("would change label Lent");
    expect(await hostnames("Lent")).toHaveLength(2);
    await json("labels", "update", "Lent", "--hosts", "");
    expect(await hostnames("Lent")).toEqual([]);
    expect((await fleet.run(["labels", "update", "Lent"])).exitCode).toBe(2);
    expect((await fleet.run(["labels", "update", "macOS", "--name", "x"])).exitCode).toBe(1);
    expect((await fleet.run(["labels", "update", "nothing", "--name", "x"])).exitCode).toBe(3);
  });
});

describe("labels delete", () => {
  it("asks, and reports how many hosts are in it", async () => {
    expect((await fleet.run(["labels", "delete", "Loaners"])).exitCode).toBe(2);
    const no = await fleet.run(["labels", "delete", "Loaners"], { tty: true, answers: [false] });
    expect(no.asked).toEqual(["Delete label Loaners (1 host in it)?"]);
    expect((await fleet.run(["labels", "delete", "Loaners", "--dry-run"])).exitCode).toBe(0);
    expect(await label("Loaners")).not.toBeNull();
    expect((await fleet.run(["labels", "delete", "Loaners", "--yes"])).exitCode).toBe(0);
    expect(await label("Loaners")).toBeNull();
    const builtin = await fleet.run(["labels", "delete", "1", "--yes"]);
    expect(builtin.exitCode).toBe(1);
    expect(builtin.stderr).toContain("built-in");
  });
});

describe("labels apply", () => {
  it("creates and changes labels by name in one transaction", async () => {
    const file = join(fleet.files, "labels.yml");
    const dry = await fleet.run(["labels", "apply", "--input", file, "--dry-run"]);
    expect(dry.stdout).toContain("create 1 label, change or keep 1");
    expect(await label("Portables")).toBeNull();
    expect((await fleet.run(["labels", "apply", "--input", "-"], { stdin: "specs:\n- name: macOS\n" })).exitCode).toBe(
      1,
    );
    expect((await fleet.run(["labels", "apply", "--input", file])).exitCode).toBe(0);
    expect(await hostnames("Loaners")).toEqual(["mac-1.example.com"]);
    expect(await label("Portables")).toMatchObject({ platform: "darwin" });
    expect((await fleet.run(["labels", "apply", "--input", "-"], { stdin: "name: x\n" })).exitCode).toBe(2);
  });
});

describe("hosts labels", () => {
  it("adds a host to labels and removes it", async () => {
    await json("labels", "create", "--name", "Second");
    await json("hosts", "labels", "add", "mac-1.example.com", "Loaners", "Second");
    expect(await hostnames("Loaners")).toEqual(["mac-1.example.com", "linux-1.example.com"]);
    expect(await hostnames("Second")).toEqual(["mac-1.example.com"]);
    expect((await fleet.run(["hosts", "labels", "remove", "1", "Second", "--dry-run"])).exitCode).toBe(0);
    expect(await hostnames("Second")).toHaveLength(1);
    await json("hosts", "labels", "remove", "1", "Second");
    expect(await hostnames("Second")).toEqual([]);
    expect((await fleet.run(["hosts", "labels", "add", "1"])).exitCode).toBe(2);
    expect((await fleet.run(["hosts", "labels", "add", "nobody", "Loaners"])).exitCode).toBe(3);
    const wrong = await fleet.run(["hosts", "labels", "add", "3", "Loaners", "macOS", "none"]);
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain('"macOS", "none"');
    expect(await hostnames("Loaners")).toHaveLength(2);
  });
});

describe("translate", () => {
  it("returns ids, and 0 for an unknown label", async () => {
    expect(
      await json("translate", "host:mac-1.example.com", "label:All Hosts", "label:none", "team:Workstations"),
    ).toEqual([
      { type: "host", identifier: "mac-1.example.com", id: 1 },
      { type: "label", identifier: "All Hosts", id: 1 },
      { type: "label", identifier: "none", id: 0 },
      { type: "team", identifier: "Workstations", id: fleet.teamId },
    ]);
    expect((await fleet.run(["translate", "mac-1"])).exitCode).toBe(2);
    expect((await fleet.run(["translate", "host:none"])).exitCode).toBe(3);
    expect((await fleet.run(["translate", "planet:Mars"])).exitCode).toBe(1);
  });
});
