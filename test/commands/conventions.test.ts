import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import type { Send } from "../../src/client/transport.ts";
import { type RunOptions, runCli } from "../support/cli.ts";

const hosts = [
  {
    id: 1,
    display_name: "mac-1",
    hostname: "mac-1",
    status: "online",
    platform: "darwin",
    os_version: "macOS 15",
    team_name: null,
    seen_time: "2026-03-01T11:57:00.000Z",
    mdm: { name: "x" },
    labels: [{ name: "a" }, { name: "b" }],
  },
  {
    id: 2,
    display_name: "=cmd|'/c calc'!A1",
    hostname: "evil\u001b[2J",
    status: "offline",
    platform: "windows",
    os_version: "10\r=2+3",
    team_name: "Ops",
    seen_time: "2000-01-01T00:00:00Z",
    mdm: { name: "" },
    labels: [],
  },
];

const json = (body: unknown, init: ResponseInit = {}) => new Response(JSON.stringify(body), init);

/** A server with two hosts that never sends more than --limit. */
const server =
  (more = false, headers: Record<string, string> = {}): Send =>
  async (url) => {
    const { pathname } = new URL(url);
    if (pathname.endsWith("/hosts"))
      return json({ hosts, meta: { has_next_results: more, has_previous_results: false } }, { headers });
    if (pathname.endsWith("/hosts/count")) return json({ count: 2 }, { headers });
    return json(
      { message: "Resource Not Found", errors: [{ name: "base", reason: "not there" }], uuid: "u-1" },
      { status: 404, headers },
    );
  };

const run = (argv: string[], options: RunOptions = {}) =>
  runCli(argv, { send: server(), ...options, env: { SVC_API_TOKEN: "t", ...options.env } });

describe("output", () => {
  it("prints a table without relative times and colours for programs", async () => {
    const { stdout, stderr, exitCode } = await run(["hosts", "list"]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    expect(stdout.split("\n")[0]).toMatch(/^ID\s+HOST\s+STATUS\s+PLATFORM\s+OS VERSION\s+TEAM\s+LAST SEEN$/);
    expect(stdout).toContain("2026-03-01T11:57:00.000Z");
    expect(stdout).not.toContain("\u001b");
  });

  it("prints relative times on a terminal", async () => {
    const { stdout } = await run(["hosts", "list"], { tty: true });
    expect(stdout).toMatch(/ 3m\n/);
    expect(stdout).toContain("never");
    expect(stdout).toContain("\u001b[1m");
  });

  it.each([
    ["NO_COLOR", "1"],
    ["TERM", "dumb"],
    ["CI", "true"],
  ])("has no colour with %s=%s", async (name, value) => {
    const { stdout } = await run(["hosts", "list"], { tty: true, env: { [name]: value } });
    expect(stdout).not.toContain("\u001b[");
  });

  it("has no colour with --no-color", async () => {
    const { stdout } = await run(["hosts", "list", "--no-color"], { tty: true });
    expect(stdout).not.toContain("\u001b[");
  });

  it("never prints a name as an escape sequence on a terminal", async () => {
    for (const format of ["table", "json", "ndjson", "yaml"]) {
      const { stdout } = await run(["hosts", "list", "-o", format, "--fields", "hostname"]);
      expect(stdout).not.toContain("\u001b");
      expect(stdout).toContain("evil");
    }
  });

  it("prints control characters and changes of direction as the same escapes in every format", async () => {
    const named = { ...hosts[0], hostname: "a\u001b[2J\u202eb\r" };
    const send: Send = async () =>
      json({ hosts: [named], meta: { has_next_results: false, has_previous_results: false } });
    for (const format of ["table", "csv", "json", "ndjson", "yaml"]) {
      const { stdout } = await run(["hosts", "list", "-o", format, "--fields", "hostname"], { send, tty: true });
      expect([format, stdout]).toEqual([format, expect.stringMatching(/a\\(u001b|e)\[2J\\u202eb\\r/)]);
    }
  });

  it("refuses --fields without a field", async () => {
    for (const given of ["", " , "]) {
      const { stdout, stderr, exitCode } = await run(["hosts", "list", "--fields", given]);
      expect([stdout, exitCode]).toEqual(["", 2]);
      expect(stderr).toContain("--fields: no field is given");
    }
  });

  it("prints complete objects as json, yaml and ndjson", async () => {
    expect(JSON.parse((await run(["hosts", "list", "-o", "json"])).stdout)).toEqual(hosts);
    expect(JSON.parse((await run(["hosts", "list", "--json"])).stdout)).toEqual(hosts);
    expect(JSON.parse((await run(["hosts", "list"], { env: { SVC_OUTPUT: "json" } })).stdout)).toEqual(hosts);
    expect(parseYaml((await run(["hosts", "list", "-o", "yaml"])).stdout)).toEqual(hosts);
    const lines = (await run(["hosts", "list", "-o", "ndjson"])).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(hosts);
  });

  it("escapes csv cells that a spreadsheet would run", async () => {
    const { stdout } = await run(["hosts", "list", "-o", "csv", "--fields", "id,display_name"]);
    expect(stdout).toBe("id,display_name\n1,mac-1\n2,'=cmd|'/c calc'!A1\n");
    // After a bare CR, a new row would begin.
    const rows = (await run(["hosts", "list", "-o", "csv", "--fields", "os_version"])).stdout;
    expect(rows).toBe('os_version\nmacOS 15\n"10\r=2+3"\n');
    const bare = await run(["hosts", "list", "-o", "csv", "--fields", "id", "--no-header"]);
    expect(bare.stdout).toBe("1\n2\n");
  });

  it("writes values of lists in lists as plain text in csv, each once", async () => {
    const versions = [
      { vulnerabilities: null },
      { vulnerabilities: ["CVE-1", "CVE-2"] },
      { vulnerabilities: ["CVE-2", "CVE-10"] },
    ];
    const send: Send = async () =>
      Response.json({
        software_titles: [
          { id: 1, versions },
          { id: 2, versions: versions.slice(0, 1) },
        ],
      });
    const { stdout } = await run(["software", "list", "-o", "csv", "--fields", "id,versions.vulnerabilities"], {
      send,
    });
    expect(stdout).toBe('id,versions.vulnerabilities\n1,"CVE-1, CVE-2, CVE-10"\n2,\n');
  });

  it("selects fields under flat keys in every format", async () => {
    const { stdout } = await run(["hosts", "list", "-o", "json", "--fields", "id,mdm.name,labels.name"]);
    expect(JSON.parse(stdout)).toEqual([
      { id: 1, "mdm.name": "x", "labels.name": ["a", "b"] },
      { id: 2, "mdm.name": "", "labels.name": [] },
    ]);
    const table = await run(["hosts", "list", "--fields", "id,mdm.name"]);
    expect(table.stdout.split("\n")[0]).toMatch(/^ID\s+MDM.NAME$/);
  });

  it("names the nearest fields for an unknown one, and how to list all", async () => {
    const { stdout, stderr, exitCode } = await run(["hosts", "list", "--fields", "hostnam"]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("unknown field hostnam in --fields; did you mean hostname?");
    expect(stderr).toContain("Fields like it: hostname, ");
    expect(stderr).toContain("`svc explain RESOURCE` lists all ");
    expect(stderr.length).toBeLessThan(500);
    const other = await run(["hosts", "list", "--fields", "enrolment"]);
    expect(other.stderr).toContain("mdm.enrollment_status");
  });

  it("refuses an unknown format, in the flag and in the environment", async () => {
    expect((await run(["hosts", "list", "-o", "xml"])).exitCode).toBe(2);
    const { exitCode, stderr } = await run(["hosts", "list"], { env: { SVC_OUTPUT: "xml" } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("SVC_OUTPUT");
  });

  it("writes only data to stdout, also with warnings and more rows", async () => {
    const send = server(true, { "x-svc-version": "7.3.0" });
    const { stdout, stderr } = await run(["hosts", "list", "-o", "json", "--limit", "2"], {
      send,
      tty: { stderr: true },
    });
    expect(JSON.parse(stdout)).toHaveLength(2);
    expect(stderr).toContain("the server has version 7.3.0");
    expect(stderr.match(/version 7\.3\.0/g)).toHaveLength(1);
    expect(stderr).toContain("only the first 2 are shown; use --limit N or --all for more");
  });

  it("reports an empty list on stderr, for people", async () => {
    const send: Send = async () => json({ hosts: [], meta: { has_next_results: false, has_previous_results: false } });
    expect(await run(["hosts", "list"], { send })).toMatchObject({ stdout: "", stderr: "none found\n" });
    expect(await run(["hosts", "list", "-o", "json"], { send })).toMatchObject({ stdout: "[]\n", stderr: "" });
    const csv = await run(["hosts", "list", "-o", "csv", "--fields", "id"], { send });
    expect(csv).toMatchObject({ stdout: "id\n", stderr: "" });
  });

  it("shows progress only on a terminal", async () => {
    expect((await run(["hosts", "list"], { tty: { stderr: true } })).stderr).toContain("\r");
    expect((await run(["hosts", "list"], { tty: { stderr: true }, env: { CI: "1" } })).stderr).toBe("");
    expect((await run(["hosts", "list"])).stderr).toBe("");
  });
});

describe("a terminal", () => {
  it("gets no 8-bit control characters either, in any format", async () => {
    const odd = { ...hosts[0], hostname: "a\u009b2Jb" };
    const send: Send = async () =>
      json({ hosts: [odd], meta: { has_next_results: false, has_previous_results: false } });
    for (const format of ["table", "json", "ndjson", "yaml", "csv"]) {
      const { stdout } = await run(["hosts", "list", "-o", format, "--fields", "hostname"], { send, tty: true });
      expect(stdout, format).not.toContain("\u009b");
    }
    const { stdout } = await run(["hosts", "list", "-o", "yaml", "--fields", "hostname"], { send });
    expect(parseYaml(stdout)).toEqual([{ hostname: odd.hostname }]);
  });

  it("gets rows that fit; a program gets complete ones", async () => {
    const send: Send = async () =>
      json({
        hosts: [{ ...hosts[0], os_version: "x".repeat(300) }],
        meta: { has_next_results: false, has_previous_results: false },
      });
    const shown = await run(["hosts", "list", "--no-color"], { send, tty: true });
    expect(shown.stdout.split("\n").every((line) => [...line].length <= 100)).toBe(true);
    expect(shown.stdout).toContain("x…");
    expect((await run(["hosts", "list"], { send })).stdout).toContain("x".repeat(300));
  });
});

describe("errors", () => {
  it("suggest the most similar value, and list all", async () => {
    const { stderr, exitCode } = await run(["hosts", "list", "--status", "onlin"]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      "Error: --status: onlin is not a valid value; did you mean online?\nOne of: new, online, offline, mia, missing\n",
    );
  });

  it("have one line for the problem and one for the remedy", async () => {
    const { stderr, stdout, exitCode } = await run(["hosts", "get", "nope"]);
    expect(exitCode).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toBe("Error: there is no host nope\n`svc hosts list --query TEXT` searches for it.\n");
  });

  it("are an object on stderr with -o json", async () => {
    for (const flags of [["-o", "json"], ["--json"], ["--output=json"], ["-ojson"]]) {
      const { stderr, stdout } = await run(["sessions", "get", "3", ...flags]);
      expect(stdout).toBe("");
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: "not_found",
          message: "Resource Not Found",
          errors: [{ name: "base", reason: "not there" }],
          hint: null,
          request_id: "u-1",
        },
      });
    }
  });

  it.each([
    [400, 1],
    [401, 4],
    [402, 4],
    [403, 4],
    [404, 3],
    [409, 5],
    [422, 1],
    [500, 1],
    [503, 1],
  ])("of status %i cause exit code %i", async (status, code) => {
    const send: Send = async () => json({ message: "no" }, { status });
    expect((await run(["hosts", "count"], { send })).exitCode).toBe(code);
  });

  it("name the field that was refused", async () => {
    const body = { message: "Validation Failed", errors: [{ name: "query", reason: "is too long" }] };
    const { stderr } = await run(["hosts", "count"], { send: async () => json(body, { status: 422 }) });
    expect(stderr).toBe("Error: --query: is too long\n");
  });

  it("name commands instead of the endpoints that they call, except in JSON", async () => {
    const reason = "use POST /hosts/:id/wipe, which asks for the approval, or POST /nowhere/:id";
    const body = { message: "Validation Failed", errors: [{ name: "command", reason }] };
    const send: Send = async () => json(body, { status: 422 });
    const { stderr } = await run(["hosts", "count"], { send });
    expect(stderr).toBe("Error: command: use `svc hosts wipe`, which asks for the approval, or POST /nowhere/:id\n");
    expect((await run(["hosts", "count", "--json"], { send })).stderr).toContain("POST /hosts/:id/wipe");
  });

  it("keep the patterns that a token is limited to", async () => {
    const allowed = ["GET /hosts", "GET /hosts/:id", "POST /hosts/*"];
    const reason = `this token may not call POST /hosts/:id/wipe: it may GET /hosts/count, ${allowed.join(", ")}`;
    const body = { message: "forbidden", errors: [{ name: "base", reason }], allowed_endpoints: allowed };
    const { stderr } = await run(["hosts", "count"], { send: async () => json(body, { status: 403 }) });
    expect(stderr).toContain(
      "may not call `svc hosts wipe`: it may `svc hosts count`, GET /hosts, GET /hosts/:id, POST /hosts/*\n",
    );
  });

  it("exit with 8 if no server is listening", async () => {
    const { exitCode, stderr } = await runCli(["hosts", "count"], { env: { SVC_API_TOKEN: "t" } });
    expect(exitCode).toBe(8);
    expect(stderr).toContain("no server is listening at 127.0.0.1:8412");
    expect(stderr).toContain("svc doctor");
  });

  it("exit with 4 before any request if nobody is signed in", async () => {
    const { exitCode, stderr } = await runCli(["hosts", "list"], { send: server() });
    expect(exitCode).toBe(4);
    expect(stderr).toContain("svc login");
  });

  it("include a stack trace only with DEBUG", async () => {
    expect((await run(["hosts", "get", "nope"])).stderr).not.toContain("    at ");
    expect((await run(["hosts", "get", "nope"], { env: { DEBUG: "svc*" } })).stderr).toContain("    at ");
  });
});

describe("usage", () => {
  it.each([
    [["hosts", "lst"], "hosts list"],
    [["host", "list"], "hosts list"],
    [["whoam"], "whoami"],
    [["help", "sessons"], "sessions"],
    [["get", "hosts"], "hosts list"],
    [["get", "host", "mac-1"], "hosts get"],
    [["hosts", "show", "mac-1"], "hosts get"],
    [["rm", "label", "3"], "labels delete"],
    [["vuln", "list"], "vulnerabilities list"],
    [["hosts", "wpie"], "hosts wipe"],
    [["lock", "mac-1"], "hosts lock"],
    [["profiles", "list"], "mdm profiles list"],
    [["packages"], "software packages"],
    [["generate"], "export"],
    [["software", "packages", "list"], "software list --available-for-install"],
    [["scripts", "upload", "a.sh"], "scripts create"],
    [["software", "add"], "software packages upload"],
    [["software", "packages", "add"], "software packages upload"],
    [["profiles", "upload"], "mdm profiles add"],
  ])("%j suggests a command", async (argv, near) => {
    const { exitCode, stderr } = await run(argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`Did you mean \`svc ${near}\`?`);
  });

  it.each([
    [["packages", "install"]],
    [["package", "supply"]],
    [["policies", "del"]],
    [["applesauce"]],
    [["hosts", "wi"]],
    [["deploy", "everything"]],
  ])("%j suggests no command that changes something", async (argv) => {
    const { exitCode, stderr } = await run(argv);
    expect(exitCode).toBe(2);
    expect(stderr).not.toMatch(/Did you mean `svc [^`]*\b(?:apply|install|wipe|reply)\b/);
  });

  it("suggests a flag", async () => {
    const { exitCode, stderr } = await run(["hosts", "list", "--statsu", "online"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("unknown flag --statsu");
    expect(stderr).toContain("Did you mean --status?");
    expect((await run(["hosts", "list", "--sort-by", "id"])).stderr).toContain("Did you mean --sort?");
  });

  it.each([
    [["hosts", "transfer", "1"], "--to TEAM is required."],
    [["hosts", "get"], "HOST is required."],
    [["hosts", "get", "1", "2"], "unexpected argument: 2\nIts arguments are HOST."],
    [["hosts", "list", "--limit"], "--limit needs a value"],
    [["hosts", "list", "--limit", "x"], "--limit: x is not a whole number"],
    [["hosts", "list", "--limit", "0"], "--limit: 0 is less than 1"],
    [["hosts", "list", "--limit", "3", "--all"], "--all and --limit cannot be given together"],
    [["hosts", "list", "--interval", "5s"], "--interval needs --watch"],
    [["hosts", "list", "--status", "onlin"], "--status: onlin is not a valid value; did you mean online?"],
    [["hosts", "--foo"], "unknown flag --foo: svc hosts must be followed by a command"],
    [["hosts", "labels", "-x"], "unknown flag -x: svc hosts labels must be followed by a command"],
    [["-x"], "unknown flag -x"],
  ])("%j is reported in the terms of this command line", async (argv, message) => {
    for (const tty of [false, true]) {
      const { exitCode, stdout, stderr } = await run(argv, { tty, env: { NO_COLOR: "1" } });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(`Error: ${message}`);
      expect(stderr).not.toMatch(/error occurred|Missing required|Expected an/);
    }
  });

  it.each([
    [["hosts", "get"]],
    [["hosts", "list", "--limit", "0"]],
    [["hosts", "list", "--limit", "3", "--all"]],
    [["hosts", "get", "1", "2"]],
    [["sessions", "delete"]],
  ])("%j is refused with 2", async (argv) => {
    const { exitCode, stderr, stdout } = await run(argv);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^Error: /);
    expect(stdout).toBe("");
  });

  it("does not ask without a terminal, and names the flag", async () => {
    const silent: RunOptions[] = [{}, { tty: true, env: { CI: "1" } }, { tty: true, env: { SVC_NO_INPUT: "1" } }];
    for (const options of silent) {
      const { exitCode, stderr, asked } = await run(["login"], options);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("--email");
      expect(asked).toEqual([]);
    }
    const { exitCode, stderr } = await run(["login", "--email", "a@b.c", "--no-input"], { tty: true });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--password-stdin");
  });

  it("shows help for commands, topics and exit codes on stdout", async () => {
    for (const argv of [[], ["help"], ["--help"], ["hosts"], ["help", "hosts", "list"], ["hosts", "list", "--help"]]) {
      const { exitCode, stdout, stderr } = await run(argv);
      expect(exitCode).toBe(0);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/USAGE/);
    }
    expect((await run(["help", "exit-codes"])).stdout).toMatch(/8\s+the server cannot be reached/);
  });
});

describe("waiting", () => {
  it("retries after a 429 and reports it on stderr", async () => {
    let calls = 0;
    const send: Send = async (url, init) =>
      calls++ === 0 ? json({}, { status: 429, headers: { "retry-after": "2" } }) : server()(url, init);
    const { exitCode, stderr, waits, stdout } = await run(["hosts", "count"], { send });
    expect(exitCode).toBe(0);
    expect(stdout).toBe("2\n");
    expect(waits).toEqual([2000]);
    expect(stderr).toContain("retrying in 2.0 s");
  });
});
