// Ctrl-C in the built binary: the message names what continues on the server and how to check it. Also typing errors:
// exit code 2.
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build } from "../e2e/support/svc.ts";
import { newHome, root } from "../support/cli.ts";

const host = { id: 1, hostname: "mac-1", display_name: "mac-1", platform: "darwin" };
const counts = { targets: 2, answered: 1, error: 0, offline: 0, timed_out: 0, cancelled: 0, waiting: 1 };
const query = {
  id: 12,
  query_id: null,
  query: "SELECT 1",
  status: "running",
  queue_until: null,
  online_count: 2,
  counts,
};

/**
 * Replies of a server for an operation that never ends; `seen` records each request, and notifies those who wait for
 * one.
 */
const seen: string[] = [];
let heard: (request: string) => void = () => {};
function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "", "http://x");
  const path = `${request.method} ${pathname.replace("/api/v1/svc", "")}`;
  seen.push(path);
  const json = (body: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  const state = { device_status: "unlocked", pending_action: "lock" };
  if (path.startsWith("GET /hosts/count")) json({ count: 9 });
  else if (path.startsWith("GET /hosts/"))
    json({ host: { ...host, mdm: seen.includes("POST /hosts/1/lock") ? state : { ...state, pending_action: "" } } });
  else if (path === "POST /hosts/1/lock") json(state);
  else if (path === "POST /queries/live") json({ live_query: query });
  else if (path === "GET /queries/live/12") json({ live_query: query });
  else if (path === "POST /queries/live/12/cancel")
    json({ live_query: { ...query, counts: { ...counts, waiting: 0, cancelled: 1 } } });
  else if (path === "GET /queries/live/12/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const result = { host, rows: [{ n: "1" }], error: null };
    response.write(`id: 1\nevent: result\ndata: ${JSON.stringify(result)}\n\n`);
  } else json({});
  heard(path);
}

const server = createServer(answer);
let env: Record<string, string>;
beforeAll(async () => {
  await build();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = await newHome();
  env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    SVC_KEYRING: "off",
    SVC_API_TOKEN: "t",
    SVC_SERVER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Runs the binary; it is interrupted when `when` returns true for a request, or for its output. */
function run(argv: readonly string[], when: (request: string, stdout: string) => boolean = () => false) {
  return new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>((resolve) => {
    seen.length = 0;
    const child = spawn(process.execPath, [join(root, "bin", "run.js"), ...argv], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr, request] = ["", "", ""];
    let done = false;
    const look = () => {
      if (done || !when(request, stdout)) return;
      done = true;
      child.kill("SIGINT");
    };
    heard = (path) => {
      request = path;
      look();
    };
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      look();
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

describe("Ctrl-C", () => {
  it("during the wait for a lock leaves it pending, and reports that", async () => {
    let looks = 0;
    const ended = await run(["hosts", "lock", "1", "--yes", "--wait", "-o", "json"], (request) => {
      if (request.startsWith("GET /hosts/1") && seen.includes("POST /hosts/1/lock")) looks++;
      return looks >= 1;
    });
    expect(ended.code).toBe(130);
    expect(JSON.parse(ended.stderr)).toEqual({
      error: {
        code: "interrupted",
        message: "interrupted: the lock is still pending on 1 host",
        errors: [],
        hint: expect.stringContaining("svc hosts upcoming HOST"),
        request_id: null,
      },
    });
    expect(JSON.parse(ended.stdout)).toMatchObject([{ id: 1, outcome: "pending" }]);
    expect(seen.filter((path) => path === "POST /hosts/1/lock")).toHaveLength(1);
  });

  it("cancels a live query that the command started, and counts its hosts", async () => {
    const ended = await run(["query", "SELECT 1", "--hosts", "1"], (_, stdout) => stdout.includes("\n"));
    expect(ended.code).toBe(130);
    expect(seen).toContain("POST /queries/live/12/cancel");
    expect(ended.stdout).toBe('{"host_hostname":"mac-1","host_id":1,"n":"1"}\n');
    expect(ended.stderr).toContain("the live query was cancelled");
    expect(ended.stderr.trim().split("\n").at(-1)).toBe("1 answered, 0 error, 0 offline, 0 timed out, 1 cancelled");
  });

  it("does not cancel a live query that is only followed, and reports how to continue", async () => {
    const ended = await run(["queries", "live", "follow", "12"], (_, stdout) => stdout.includes("\n"));
    expect(ended.code).toBe(130);
    expect(seen).not.toContain("POST /queries/live/12/cancel");
    expect(ended.stderr).toContain("Error: interrupted: live query 12 continues\n");
    expect(ended.stderr).toContain("svc queries live follow 12");
  });

  it("ends an expression that runs forever", async () => {
    const ended = await run(["hosts", "get", "1", "--jq", "last(repeat(1))"], (request) =>
      request.startsWith("GET /hosts/1"),
    );
    // The shell turns an end by the signal itself into 130.
    expect(ended.signal === "SIGINT" || ended.code === 130).toBe(true);
  });
});

describe("typing errors", () => {
  it.each([
    [["hosts", "lst"], "Did you mean `svc hosts list`?"],
    [["hsots", "list"], "Did you mean `svc hosts list`?"],
    [["polices"], "Did you mean `svc policies`?"],
    [["hosts", "labels", "ad", "1", "x"], "Did you mean `svc hosts labels add`?"],
    [["hosts", "list", "--statsu", "online"], "Did you mean --status?"],
    [["hosts", "list", "--status", "onlin"], "did you mean online?"],
    [["hosts", "list", "--fields", "hostnam"], "did you mean hostname?"],
    [["help", "formating"], "formatting"],
    [["explain", "plicy"], "Did you mean policy?"],
    [["can-i", "hosts:wip"], "Did you mean hosts:wipe?"],
  ])("%j is reported with a suggestion, and exit code 2", async (argv, near) => {
    const ended = await run(argv);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(near);
    expect(ended.stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
  });
});
