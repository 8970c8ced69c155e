import { beforeEach, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { type Answer, answerLiveQueries } from "../support/live.ts";
import { makeHost } from "../support/make.ts";

const MAC = "mac-1.example.com";
const LINUX = "linux-1.example.com";
const WINDOWS = "win-1.example.com";

let fleet: Fleet;
let answers: Record<string, Answer>;
beforeEach(async () => {
  fleet = await startFleet({ settings: { live_query_rest_period: "60s" } });
  answers = {
    [MAC]: {
      rows: [
        { name: "Safari", "a.b": "1" },
        { name: "=cmd|'/c calc'!A1", "a.b": "2" },
      ],
    },
    [LINUX]: { rows: [{ name: "bash", "a.b": "3" }] },
  };
  await answerLiveQueries(fleet.app, ({ hostname }) => answers[hostname] ?? {});
});

const lines = (text: string) => text.trim().split("\n");
const lastLine = (text: string) => lines(text).at(-1);
const byHost = (rows: { host_hostname: string }[]) => rows.sort((a, b) => (a.host_hostname < b.host_hostname ? -1 : 1));
const query = (...argv: string[]) => fleet.run(["query", "SELECT name FROM apps", ...argv]);
const campaigns = () => fleet.app.store.campaigns.list();

describe("svc query", () => {
  it("prints ndjson without a terminal, each row with its host, and counts every target", async () => {
    const { stdout, stderr, exitCode } = await query("--hosts", `${MAC},${LINUX}`);
    const rows = byHost(lines(stdout).map((line) => JSON.parse(line)));
    expect(rows).toEqual([
      { host_hostname: LINUX, host_id: 2, name: "bash", "a.b": "3" },
      { host_hostname: MAC, host_id: 1, name: "Safari", "a.b": "1" },
      { host_hostname: MAC, host_id: 1, name: "=cmd|'/c calc'!A1", "a.b": "2" },
    ]);
    expect(stderr).toBe("2 answered, 0 error, 0 offline, 0 timed out\n");
    expect(exitCode).toBe(0);
  });

  it("reports errors and offline hosts, and exits with 6", async () => {
    answers[LINUX] = { status: 1, message: "no such table: apps\u001b[2J" };
    const { stdout, stderr, exitCode } = await query("--hosts", `${MAC},${LINUX}`, "--hosts", WINDOWS);
    expect(lines(stdout)).toHaveLength(2);
    expect(stderr).toContain(`${LINUX}: no such table: apps\\u001b[2J\n`);
    expect(lastLine(stderr)).toBe("1 answered, 1 error, 1 offline, 0 timed out");
    expect(exitCode).toBe(6);
  });

  it.each([
    ["query", ["SELECT * FORM apps", "--hosts", MAC], "  SELECT * FORM apps\n           ^\n", ""],
    ["query", ["SELECT 1\nFORM apps", "--hosts", MAC], "  FORM apps\n       ^\n", " in line 2"],
    ["queries create", ["--name", "x", "--query", "SELECT * FORM apps"], "  SELECT * FORM apps\n           ^\n", ""],
  ])("puts a caret below a mistake in the SQL: svc %s", async (command, argv, shown, line) => {
    const { stdout, stderr, exitCode } = await fleet.run([...command.split(" "), ...argv]);
    const near = shown.includes("*") ? "FORM" : "apps";
    expect([stdout, stderr, exitCode]).toEqual([
      "",
      `Error: the SQL is not valid${line}: near "${near}": syntax error\n${shown}`,
      2,
    ]);
    expect(await campaigns()).toEqual([]);
  });

  it("prints json, yaml and csv as complete documents", async () => {
    const json = await query("--hosts", MAC, "-o", "json");
    expect(JSON.parse(json.stdout)).toEqual([
      { host_hostname: MAC, host_id: 1, name: "Safari", "a.b": "1" },
      { host_hostname: MAC, host_id: 1, name: "=cmd|'/c calc'!A1", "a.b": "2" },
    ]);
    expect(parseYaml((await query("--hosts", MAC, "-o", "yaml")).stdout)).toHaveLength(2);
    const picked = await query("--hosts", MAC, "-o", "csv", "--fields", "host_id,name");
    expect(picked.stdout).toBe("host_id,name\n1,Safari\n1,'=cmd|'/c calc'!A1\n");
    answers[MAC] = { rows: [] };
    expect((await query("--hosts", MAC, "-o", "json")).stdout).toBe("[]\n");
    expect((await query("--hosts", MAC, "-o", "csv")).stdout).toBe("host_hostname,host_id\n");
  });

  it("prints a growing table on a terminal, with a progress line that is removed", async () => {
    answers[LINUX] = { rows: [{ name: `evil\u001b[2J${"x".repeat(300)}`, other: "y" }] };
    const { stdout, stderr, exitCode } = await fleet.run(["query", "SELECT 1", "--hosts", `${MAC},${LINUX}`], {
      tty: true,
      env: { NO_COLOR: "1" },
    });
    const table = lines(stdout);
    expect(table).toHaveLength(5);
    expect(stdout).toMatch(/^HOST_HOSTNAME +NAME +A\.B$/m);
    expect(stdout).toMatch(/^mac-1\.example\.com +Safari +1$/m);
    expect(stdout).toMatch(/^HOST_HOSTNAME +NAME +OTHER$/m);
    expect(stdout).not.toContain("\u001b");
    for (const line of table) expect([...line].length).toBeLessThanOrEqual(100);
    expect(stderr).toContain("querying 2 hosts ...");
    expect(stderr).toMatch(/2 answered, 0 error, 0 offline, 0 timed out\n$/);
    expect(exitCode).toBe(0);
  });

  it("selects by label, team, expression, and all hosts", async () => {
    const targets = async (...argv: string[]) => {
      const { stderr, exitCode } = await query(...argv);
      expect([0, 6], stderr).toContain(exitCode);
      return (await campaigns()).at(-1)!.targets_count;
    };
    expect(await targets("--teams", "Workstations")).toBe(1);
    expect(await targets("--teams", "0")).toBe(2);
    expect(await targets("--labels", "Loaners")).toBe(1);
    expect(await targets("--labels", "Loaners", "--hosts", MAC)).toBe(2);
    expect(await targets("--where", "platform = darwin")).toBe(1);
    expect(await targets("--all-hosts")).toBe(3);
    expect(await targets("--where", "platform = darwin", "--teams", "Workstations")).toBe(1);
  });

  it("runs a saved query", async () => {
    const { exitCode } = await fleet.run(["query", "--query", "Local users", "--hosts", MAC]);
    expect(exitCode).toBe(0);
    expect((await campaigns())[0]).toMatchObject({ query: "SELECT uid, username FROM users" });
    expect((await fleet.run(["query", "--query", "Nothing", "--hosts", MAC])).exitCode).toBe(3);
  });

  it("reads SQL from stdin", async () => {
    const { exitCode } = await fleet.run(["query", "-", "--hosts", MAC], { stdin: "SELECT 7\n" });
    expect(exitCode).toBe(0);
    expect((await campaigns())[0]!.query).toBe("SELECT 7");
  });

  it("keeps the query for hosts that come online later, and exits without them", async () => {
    const { stderr, exitCode } = await query("--hosts", `${MAC},${WINDOWS}`, "--queue-until", "24h");
    expect(stderr).toContain("the query also runs on hosts that come online later: svc queries live follow 1");
    expect(lastLine(stderr)).toBe(
      "1 answered, 0 error, 0 offline, 0 timed out, 1 waiting until 2026-03-02T12:00:00.000Z",
    );
    expect(exitCode).toBe(6);
    expect((await campaigns())[0]).toMatchObject({ status: 1, answered_count: 1 });
    const got = await fleet.run(["queries", "live", "get", "1", "-o", "json"]);
    expect(JSON.parse(got.stdout)).toMatchObject({ status: "running", counts: { answered: 1, waiting: 1 } });
    const cancelled = await fleet.run(["queries", "live", "cancel", "1"]);
    expect(cancelled.stderr).toBe("live query 1 has ended: 1 answered, 0 error, 0 offline, 0 timed out, 1 cancelled\n");
    const followed = await fleet.run(["queries", "live", "follow", "1", "--fields", "name"]);
    expect(lines(followed.stdout)).toEqual([
      JSON.stringify({ name: "Safari" }),
      JSON.stringify({ name: "=cmd|'/c calc'!A1" }),
    ]);
    expect(followed.exitCode).toBe(6);
  });

  it("reports errors, and starts nothing", async () => {
    const cases: [string[], number, string][] = [
      [["query", "SELECT 1"], 2, "no hosts are given"],
      [["query", "--hosts", MAC], 2, "give either SQL or --query"],
      [["query", "SELECT 1", "--query", "x", "--hosts", MAC], 2, "give either SQL or --query"],
      [["query", "SELECT 1", "--hosts", "nobody"], 3, "there is no host nobody"],
      [["query", "SELECT 1", "--hosts", MAC, "--timeout", "soon"], 2, "soon is not a duration"],
      [["query", "SELECT 1", "--all-hosts", "--hosts", MAC], 2, "all-hosts"],
      [["query", "SELECT 1", "--where", "nonsense ="], 2, "--where"],
      [["query", " ", "--hosts", MAC], 1, "one of query or query_id must be specified"],
    ];
    for (const [argv, code, text] of cases) {
      const { stdout, stderr, exitCode } = await fleet.run(argv);
      expect(exitCode, argv.join(" ")).toBe(code);
      expect(stderr).toContain(text);
      expect(stdout).toBe("");
    }
    const dry = await query("--hosts", `${MAC},${WINDOWS}`, "--dry-run");
    expect(dry).toMatchObject({ exitCode: 0, stdout: "would run a live query on 2 hosts, 1 of them online\n" });
    expect(await campaigns()).toEqual([]);
    await fleet.app.patch("/config", { server_settings: { live_query_disabled: true } });
    const off = await query("--hosts", MAC);
    expect(off).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("Permission Denied") });
  });

  it("resumes a broken connection, and prints nothing twice", async () => {
    const { app } = fleet;
    for (let i = 0; i < 6; i++) await makeHost(app, { hostname: `h${i}` }, { seen: app.clock.iso() });
    const stop = await answerLiveQueries(app, ({ hostname }) => ({ rows: [{ n: hostname }] }));
    let opened = 0;
    const asked: (string | undefined)[] = [];
    const { stdout, stderr, exitCode } = await fleet.run(["query", "SELECT 1", "--where", 'hostname ~ "h"'], {
      send: async (url, init) => {
        const { pathname, search } = new URL(url);
        const reply = await app.raw(`${pathname}${search}`, init);
        if (!pathname.endsWith("/stream")) return reply;
        asked.push(init.headers["last-event-id"]);
        return opened++ < 2 ? new Response(broken(reply.body!)) : reply;
      },
    });
    await stop();
    expect(exitCode, stderr).toBe(0);
    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(asked[0]).toBeUndefined();
    const names = lines(stdout).map((line) => (JSON.parse(line) as { n: string }).n);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength((await app.store.hosts.count(eq("platform", "ubuntu"))) - 1);
  });
});

/** Passes on two results, then breaks the connection. */
function broken(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let results = 0;
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) return controller.close();
      if (new TextDecoder().decode(value).includes("event: result")) results++;
      controller.enqueue(value);
      if (results < 2) return;
      void reader.cancel();
      controller.error(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    },
  });
}

describe("svc hosts query", () => {
  it("prints the rows of one host", async () => {
    const byName = await fleet.run(["hosts", "query", MAC, "SELECT 1", "-o", "json"]);
    expect(JSON.parse(byName.stdout)).toEqual(answers[MAC]!.rows);
    const byId = await fleet.run(["hosts", "query", "1", "SELECT 1"]);
    expect(byId.stdout).toContain("Safari");
    expect(byId.exitCode).toBe(0);
    await fleet.app.store.hosts.update({ where: eq("id", 1), set: { display_name: "Ada's Mac" } });
    const byShownName = await fleet.run(["hosts", "query", "Ada's Mac", "SELECT 1"]);
    expect(byShownName.stdout).toContain("Safari");
  });

  it("reports that the host is offline, fails or does not exist", async () => {
    expect(await fleet.run(["hosts", "query", WINDOWS, "SELECT 1"])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining("the host is offline"),
    });
    answers[MAC] = { status: 1, message: "no such table: x" };
    expect(await fleet.run(["hosts", "query", MAC, "SELECT 1"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no such table: x"),
    });
    expect(await fleet.run(["hosts", "query", "nobody", "SELECT 1"])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("there is no host nobody"),
    });
    // A refusal of the query itself is reported unchanged.
    expect(await fleet.run(["hosts", "query", MAC, " "])).toMatchObject({ exitCode: 1 });
  });
});

describe("svc queries run", () => {
  it("runs one saved query, or several", async () => {
    const one = await fleet.run(["queries", "run", "USB devices", "--hosts", `${MAC},${LINUX}`, "-o", "json"]);
    expect(JSON.parse(one.stdout)).toHaveLength(3);
    expect(JSON.parse(one.stdout)).toContainEqual({ host_id: 2, name: "bash", "a.b": "3" });
    expect(one.exitCode).toBe(0);
    const two = await fleet.run(["queries", "run", "USB devices", "Local users", "--hosts", MAC, "-o", "json"]);
    expect(
      JSON.parse(two.stdout)
        .map(({ query_name }: { query_name: string }) => query_name)
        .sort(),
    ).toEqual(["Local users", "Local users", "USB devices", "USB devices"]);
    const off = await fleet.run(["queries", "run", "USB devices", "--hosts", `${MAC},${WINDOWS}`]);
    expect(off.exitCode).toBe(6);
    // A team's query is found by name only within the team.
    await fleet.app.post("/queries", {
      name: "Of the team",
      query: "SELECT * FROM usb_devices",
      team_id: fleet.teamId,
    });
    const ofTeam = ["queries", "run", "Of the team", "--hosts", MAC];
    expect(await fleet.run(ofTeam)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("--team") });
    expect((await fleet.run([...ofTeam, "--team", "Workstations"])).exitCode).toBe(0);
  });
});

describe("svc targets", () => {
  it("finds and counts them", async () => {
    const found = await fleet.run(["targets", "search", "mac", "-o", "json"]);
    expect(JSON.parse(found.stdout)).toEqual(
      expect.arrayContaining([
        { kind: "host", id: 1, name: MAC, hosts: 1, status: "online" },
        expect.objectContaining({ kind: "label", name: "All Hosts" }),
      ]),
    );
    const count = await fleet.run(["targets", "count", "--hosts", `${MAC},${WINDOWS}`, "-o", "json"]);
    expect(JSON.parse(count.stdout)).toEqual({ targets_count: 2, targets_online: 1, targets_offline: 1 });
    const hosts = await fleet.run(["hosts", "search", "linux", "-o", "json", "--fields", "hostname"]);
    expect(JSON.parse(hosts.stdout)).toEqual([{ hostname: LINUX }]);
  });
});
