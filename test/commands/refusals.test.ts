// How commands report refusals: files that cannot be read, conflicts, missing causes, and things that do not exist.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorReport } from "../../src/cli/errors.ts";
import { apiCallError } from "../../src/client/errors.ts";
import type { Send } from "../../src/client/transport.ts";
import { type RequestedChange, refusal } from "../../src/server/edge/configuration/changes.ts";
import { configurationKind } from "../../src/server/edge/configuration/kinds.ts";
import { checkPins } from "../../src/server/edge/configuration/pins.ts";
import {
  ApiError,
  alreadyExists,
  conflict,
  failed,
  hasChanged,
  notOnThisServer,
  overBudget,
  overloaded,
  selectionMoved,
  unavailable,
} from "../../src/server/platform/core/errors.ts";
import { notConfigured } from "../../src/server/platform/mail/mail.ts";
import { durationText } from "../../src/text/duration.ts";
import { runCli } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { makeSession, makeUser } from "../support/make.ts";

const reportOf = (error: ApiError, headers: Record<string, string> = {}) =>
  errorReport(apiCallError(error.status, new Headers(headers), JSON.stringify(error.body("u-1"))));

describe("a file that cannot be read", () => {
  const missing = "no/such/file";
  it.each([
    [["uploads", "create", missing]],
    [["mdm", "eula", "upload", missing]],
    [["mdm", "profiles", "add", missing]],
    [["mdm", "profiles", "apply", missing]],
    [["mdm", "bootstrap", "upload", missing]],
    [["config", "logo", "set", missing]],
    [["config", "set", `org_info.org_name=@${missing}`]],
    [["scripts", "create", missing]],
    [["scripts", "apply", missing]],
    [["software", "packages", "upload", missing, "--team", "0"]],
    [["software", "icons", "set", "1", missing, "--team", "0"]],
    [["queries", "create", "--input", missing]],
    [["license", "verify", missing]],
    [["agent", "simulate", "--hosts", "1", "--enroll-secret-file", missing]],
    [["apply", missing, "--yes"]],
    [["context", "add", "new", "--server-url", "https://svc.example.com", "--ca-file", missing]],
    [["hosts", "list", "--ca-file", missing]],
  ])("is reported in one way by svc %j", async (argv) => {
    const send: Send = async () => Response.json({ software_title: { id: 1, name: "x" } });
    const { exitCode, stdout, stderr } = await runCli(argv, { send, env: { SVC_API_TOKEN: "t" } });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`${missing} cannot be read (ENOENT)`);
    expect(stderr).not.toContain("no such file or directory");
  });

  it("is reported without the words of the system in any other place too", async () => {
    const opened = await readFile(missing).catch((error: unknown) => error);
    const listed = await readdir(missing).catch((error: unknown) => error);
    expect(errorReport(opened)).toMatchObject({ code: "failed", message: `${missing} cannot be opened (ENOENT)` });
    expect(errorReport(listed)).toMatchObject({ code: "failed", message: `${missing} cannot be accessed (ENOENT)` });
  });

  it("is reported like one that cannot be written", async () => {
    const send: Send = async () => new Response("content");
    const target = join("no", "such", "folder", "metadata.xml");
    const { exitCode, stderr } = await runCli(["mdm", "enrollment-profile", "manual", "-o", target], {
      send,
      env: { SVC_API_TOKEN: "t" },
    });
    expect([exitCode, stderr]).toEqual([1, `Error: ${target} cannot be written (ENOENT)\n`]);
  });
});

describe("a conflict", () => {
  it("is answered with a hint to read again only if something has changed since", async () => {
    const pin = { kind: "policy", owner: null, name: "p", revision: "1" } as const;
    const moved = await checkPins([pin], new Map(), "key").catch((error: ApiError) => error);
    for (const error of [moved as ApiError, selectionMoved("x", "1", "2"), hasChanged("the password is another one")])
      expect(reportOf(error)).toMatchObject({ code: "conflict", hint: "Read the current state, then try again." });
    expect(reportOf(new ApiError(412, "Precondition Failed")).hint).toContain("Read the current");
    // The words do not matter.
    for (const error of [alreadyExists("the label Meanwhile exists"), conflict("nothing was changed meanwhile")])
      expect(reportOf(error)).toMatchObject({ code: "conflict", hint: null });
  });

  it("has the field for programs, also if it is about one of several changes", () => {
    const change = { kind: "policy", owner: null, name: "p", action: "update" } as const;
    const given: RequestedChange = { ...change, index: 3, shape: configurationKind(change) };
    expect(refusal(given, hasChanged("is another one")).body("u")).toMatchObject({ changed: true });
    expect(conflict("is taken").body("u")).not.toHaveProperty("changed");
  });
});

describe("a server that cannot serve a request now", () => {
  it("is called overloaded only if it is", () => {
    expect(reportOf(overloaded("too many dry runs are under way; try again"), { "retry-after": "5" })).toMatchObject({
      code: "failed",
      hint: "The server is overloaded; try again in 5 s.",
    });
    expect(reportOf(overBudget("too many hosts", 3652), { "retry-after": "3652" }).hint).toBe(
      "Try again in about an hour.",
    );
    expect([119, 120, 3500, 7200, 86_400, 200_000].map(durationText)).toEqual([
      "119 s",
      "about 2 minutes",
      "about an hour",
      "about 2 hours",
      "about a day",
      "about 2 days",
    ]);
    for (const error of [
      unavailable("the database cannot be reached or written to now; try again"),
      notOnThisServer("the file x", "it"),
    ])
      expect(reportOf(error)).toMatchObject({ hint: null, errors: error.errors });
    // A proxy has no reason.
    expect(reportOf(new ApiError(503, "no")).hint).toContain("or a proxy before it");
  });
});

describe("a failure of the server", () => {
  it("points to the log only if the reply does not contain the cause", async () => {
    expect(reportOf(notConfigured())).toMatchObject({ hint: null, request_id: "u-1" });
    const reason = "internal error; the server log has it under this uuid";
    expect(reportOf(failed(reason)).hint).toContain("with the id u-1");
    expect(reportOf(new ApiError(500, "Unknown Error")).hint).toContain("with the id u-1");
    const fleet = await startFleet();
    const { stderr } = await fleet.run(["users", "forgot-password", "somebody@example.com"]);
    expect(stderr).toBe("Error: Unknown Error: email not configured\n");
  });
});

describe("live queries that are turned off", () => {
  const HINT = "Live queries may be turned off: see `svc config get server_settings.live_query_disabled`.";
  const off = async (): Promise<Fleet> => {
    const fleet = await startFleet();
    await fleet.app.patch("/config", { server_settings: { live_query_disabled: true } });
    return fleet;
  };
  it("are explained by the commands that run one", async () => {
    const fleet = await off();
    const host = "mac-1.example.com";
    const { query } = (await (await fleet.app.post("/queries", { name: "q", query: "SELECT 1" })).json()) as {
      query: { id: number };
    };
    for (const argv of [
      ["query", "SELECT 1", "--hosts", host],
      ["hosts", "query", host, "SELECT 1"],
      ["queries", "run", String(query.id), "--hosts", host],
      ["queries", "live", "start", "SELECT 1", "--hosts", host],
      ["carves", "start", host, "/etc/hosts"],
    ]) {
      const { exitCode, stderr } = await fleet.run(argv);
      expect([argv[0], exitCode, stderr]).toEqual([argv[0], 4, expect.stringContaining("Permission Denied")]);
      expect(stderr).toContain(HINT);
    }
    const json = await fleet.run(["query", "SELECT 1", "--hosts", host, "-o", "json"]);
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: "denied", hint: HINT, request_id: expect.any(String) });
  });

  it("are not the reason of other refusals", async () => {
    const fleet = await startFleet();
    const { id } = await makeUser(fleet.app, "observer");
    const env = { SVC_API_TOKEN: await makeSession(fleet.app, id) };
    for (const [action, argv] of [
      ["labels:write", ["labels", "create", "--name", "New", "--query", "SELECT 1"]],
      ["queries:run", ["query", "SELECT 1", "--hosts", "mac-1.example.com"]],
    ] as const) {
      const { exitCode, stderr } = await fleet.run([...argv], { env });
      expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`: this requires ${action}`)]);
      expect(stderr).toContain(`\`svc can-i ${action}\` checks it`);
      expect(stderr).not.toContain("Live queries");
    }
    expect(reportOf(new ApiError(403, "Permission Denied")).hint).toBe("`svc can-i` lists what your role allows.");
  });
});

it("a query that does not exist is looked for in the list that has it", async () => {
  const fleet = await startFleet();
  const { exitCode, stderr } = await fleet.run(["queries", "get", "nothing"]);
  expect([exitCode, stderr]).toEqual([
    3,
    expect.stringContaining("`svc queries list --team TEAM` those of a team. An id finds any of them."),
  ]);
});

it("one of a kind is singular", async () => {
  const fleet = await startFleet();
  const started = await fleet.run(["queries", "live", "start", "SELECT 1", "--hosts", "mac-1.example.com"]);
  expect([started.exitCode, started.stderr]).toEqual([0, expect.stringMatching(/was started on 1 host\n$/)]);
  const dry = await fleet.run(["query", "SELECT 1", "--hosts", "mac-1.example.com", "--dry-run"]);
  expect(dry.stdout).toContain("would run a live query on 1 host, ");
  const label = ["labels", "create", "--name", "L", "--host-ids", "4242"];
  expect((await fleet.run(label)).stderr).toContain("1 host was given; none of them is known");
});

it("a label is not created or changed if one of its hosts does not exist", async () => {
  const fleet = await startFleet();
  const made = ["labels", "create", "--name", "L", "--hosts", "mac-1.example.com,nobody-1"];
  expect(await fleet.run(made)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("no host nobody-1") });
  expect((await fleet.run(["labels", "get", "L"])).exitCode).toBe(3);
  expect((await fleet.run(["labels", "create", "--name", "L", "--hosts", "mac-1.example.com"])).exitCode).toBe(0);
  expect((await fleet.run(["labels", "update", "L", "--hosts", "nobody-1"])).exitCode).toBe(3);
  expect((await fleet.run(["labels", "get", "L", "-o", "json"])).stdout).toContain('"count": 1');
});
