// Scripts that the agent runs: once each, with limits. All of them are harmless.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processesWith } from "../../src/agent/isolated/marked-processes.ts";
import { type ScriptResult, ScriptRunner, type ScriptServer } from "../../src/agent/scripts/runner.ts";
import { commandFor } from "../../src/agent/scripts/script.ts";
import { Journal } from "../../src/agent/state/journal.ts";

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-scripts-"));
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

/** A server with scripts, which counts deliveries. */
class FakeServer implements ScriptServer {
  readonly scripts = new Map<string, { contents: string; timeout: number }>();
  readonly results: [id: string, result: ScriptResult][] = [];
  requests = 0;
  isDown = false;

  async request(id: string) {
    this.requests++;
    return this.scripts.get(id) ?? null;
  }

  async deliver(id: string, result: ScriptResult) {
    if (this.isDown) throw new Error("the server is down");
    this.results.push([id, result]);
  }
}

function start(server: FakeServer, { runsScripts = true } = {}) {
  const stop = new AbortController();
  const common = { stateDir, log: () => {}, signal: stop.signal, findProcesses: processesWith };
  const runner = new ScriptRunner({ ...common, runsScripts, server });
  return { runner, stop };
}

async function run(contents: string, timeout = 30) {
  const server = new FakeServer();
  const id = randomUUID();
  server.scripts.set(id, { contents, timeout });
  await start(server).runner.run(id);
  expect(server.results).toHaveLength(1);
  return server.results[0]![1];
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A zombie counts as dead: nobody may be there to collect it. */
const isRunning = async (pid: number) =>
  isAlive(pid) && !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, "utf8").catch(() => "State: Z"));

describe("a script", () => {
  it("reports its output and exit code", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({ output: "out\nerr\n", exit_code: 3 });
  });

  it("runs with the interpreter of its first line", async () => {
    expect(await run("#!/usr/bin/env python3\nprint(6 * 7)\n")).toMatchObject({ output: "42\n", exit_code: 0 });
    expect(await run("#!/bin/sh -e\nfalse\necho not reached\n")).toMatchObject({ output: "", exit_code: 1 });
    expect(await run("#!/no/such/interpreter\n")).toMatchObject({ exit_code: -1 });
  });

  it("gets a file for PowerShell on Windows, and where its first line names it", () => {
    const { argv } = commandFor("Get-Date", "C:\\a b", "win32");
    expect(argv.slice(0, 4)).toEqual(["cmd.exe", "/d", "/s", "/c"]);
    expect(argv[4]).toMatch(/^"chcp 65001 > nul & powershell\.exe [^"]* -File "C:\\a b.script\.ps1""$/);
    expect(commandFor("#!/usr/bin/env pwsh\r\n", "/x", "linux").argv).toEqual([
      "/usr/bin/env",
      "pwsh",
      "/x/script.ps1",
    ]);
  });

  it("keeps the end of a large output", async () => {
    const { output, exit_code } = await run("head -c 100000000 /dev/zero | tr '\\0' x; echo; echo end");
    expect(exit_code).toBe(0);
    expect(output).toHaveLength(10_000);
    expect(output.endsWith("x\nend\n")).toBe(true);
  });

  it("is ended at its time limit, with all processes that it has started", async () => {
    const { output, exit_code, timeout } = await run("sleep 300 & echo $!; sleep 300 & echo $!; wait", 1);
    expect([exit_code, timeout]).toEqual([-1, 1]);
    expect(output).toContain("time limit of 1 seconds");
    for (const pid of output.match(/^\d+$/gm)!) await expect.poll(() => isRunning(Number(pid))).toBe(false);
  });

  it.skipIf(process.platform !== "linux")(
    "is ended with what has left its process group, and ignores signals",
    async () => {
      const loop = "trap '' TERM INT HUP; echo $$; while :; do sleep 0.2; done";
      const { output, exit_code } = await run(`setsid sh -c "${loop.replaceAll("$", "\\$")}" & ${loop}`, 1);
      expect(exit_code).toBe(-1);
      const pids = output.match(/^\d+$/gm)!;
      expect(pids).toHaveLength(2);
      for (const pid of pids) await expect.poll(() => isRunning(Number(pid))).toBe(false);
    },
  );

  it("may leave a process behind, which does not delay the result", async () => {
    const { output, exit_code, runtime } = await run("sleep 300 & echo $!", 200);
    expect(exit_code).toBe(0);
    expect(runtime).toBeLessThan(100);
    process.kill(Number(output.trim()), "SIGKILL");
  });

  it("sees nothing of the agent's own settings", async () => {
    process.env.SVC_ENROLL_SECRET = "not for scripts";
    try {
      expect((await run("env")).output).not.toContain("not for scripts");
    } finally {
      delete process.env.SVC_ENROLL_SECRET;
    }
  });

  it("leaves no files", async () => {
    const { output } = await run("pwd");
    expect(output).toContain(stateDir);
    expect(existsSync(output.trim())).toBe(false);
  });
});

describe("the runner", () => {
  it("does not run scripts if they are disabled", async () => {
    const server = new FakeServer();
    server.scripts.set("one", { contents: `touch ${stateDir}/ran`, timeout: 30 });
    await start(server, { runsScripts: false }).runner.run("one");
    expect(server.results).toEqual([["one", expect.objectContaining({ exit_code: -2 })]]);
    expect(existsSync(join(stateDir, "ran"))).toBe(false);
  });

  it("does nothing for a script that was cancelled", async () => {
    const server = new FakeServer();
    await start(server).runner.run("one");
    expect([server.requests, server.results]).toEqual([1, []]);
  });

  it("delivers a result until the server has it, without running the script again", async () => {
    const server = new FakeServer();
    server.scripts.set("one", { contents: `echo x >> ${stateDir}/runs; echo done`, timeout: 30 });
    server.isDown = true;
    await expect(start(server).runner.run("one")).rejects.toThrow("down");
    await expect(start(server).runner.recover()).rejects.toThrow("down");
    server.isDown = false;
    const { runner } = start(server);
    await runner.recover();
    // The server may name the script once more, in a reply that it sent before.
    await runner.run("one");
    expect(server.results).toEqual([["one", expect.objectContaining({ output: "done\n", exit_code: 0 })]]);
    expect(await readFile(join(stateDir, "runs"), "utf8")).toBe("x\n");
  });

  it("reports a script that ran when the agent died as failed, and ends what is left of it", async () => {
    const server = new FakeServer();
    const pidFile = join(stateDir, "pid");
    server.scripts.set("one", { contents: `echo $$ > ${pidFile}; exec sleep 300`, timeout: 300 });
    // This runner stands for the process that died: nobody waits for its script.
    const { runner: dead, stop } = start(server);
    const abandoned = dead.run("one").catch(() => {});
    await expect.poll(() => readFile(pidFile, "utf8").catch(() => "")).toMatch(/\d+\n/);
    const pid = Number(await readFile(pidFile, "utf8"));
    const next = new FakeServer();
    await start(next).runner.recover();
    expect(next.results).toEqual([
      ["one", expect.objectContaining({ exit_code: -1, output: expect.stringContaining("not run again") })],
    ]);
    expect(next.requests).toBe(0);
    await expect.poll(() => isRunning(pid)).toBe(false);
    stop.abort();
    await abandoned;
  });

  it("does not run a script that it cannot note", async () => {
    const server = new FakeServer();
    server.scripts.set("one", { contents: `touch ${stateDir}/ran`, timeout: 30 });
    // A file in the place of the folder: nothing can be written, as on a full disk.
    await writeFile(join(stateDir, "scripts"), "");
    await expect(start(server).runner.run("one")).rejects.toThrow();
    expect(existsSync(join(stateDir, "ran"))).toBe(false);
  });

  it("forgets delivered scripts after a week, and no others", async () => {
    const journal = new Journal<ScriptResult>(stateDir, "scripts");
    await journal.write("old", { state: "delivered" });
    await journal.write("open", { state: "started" });
    await journal.prune(Date.now() + 6 * 86_400_000);
    expect(await journal.read("old")).not.toBeNull();
    await journal.prune(Date.now() + 8 * 86_400_000);
    expect(await journal.read("old")).toBeNull();
    expect(await journal.unfinished()).toEqual(["open"]);
  });
});
