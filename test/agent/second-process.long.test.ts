// Queries run in a process of their own, which is ended when one takes too long.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moduleProgram } from "../../src/agent/isolated/module-program.ts";
import { SecondProcess } from "../../src/agent/isolated/second-process.ts";
import { readHardware } from "../../src/agent/machine/hardware.ts";
import { readOs } from "../../src/agent/machine/os.ts";
import { IsolatedSession } from "../../src/agent/queries/isolated-session.ts";
import type { SessionContext } from "../../src/agent/queries/sqlite.ts";

const ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) AS n FROM c";

let stop: AbortController;
let secondProcess: SecondProcess;
let context: SessionContext;
beforeEach(async () => {
  stop = new AbortController();
  secondProcess = new SecondProcess({ program: moduleProgram(), signal: stop.signal });
  context = {
    hardware: await readHardware({ uuid: "U-1", serial: "S-1" }),
    os: await readOs(),
    instanceId: "I-1",
    agentVersion: "1.2.3",
    runsScripts: true,
    startedAt: 1_700_000_000,
    flags: {},
  };
});
afterEach(() => stop.abort());

const answered = (rows: Record<string, string>[]) => ({ status: 0, message: "", rows });
const ask = (sql: string, limitMs?: number) => new IsolatedSession(secondProcess, context, limitMs).answer(sql);

describe("the process for queries", () => {
  it("answers the queries of a session from the same tables, with what the agent knows", async () => {
    const session = new IsolatedSession(secondProcess, context);
    expect(await session.answer("SELECT uuid FROM system_info")).toEqual(answered([{ uuid: "U-1" }]));
    expect(await session.answer("CREATE TABLE mine AS SELECT 7 AS n; SELECT n FROM mine")).toEqual(
      answered([{ n: "7" }]),
    );
    expect(await session.answer("SELECT n FROM mine")).toEqual(answered([{ n: "7" }]));
    await session.close();
    expect(await ask("SELECT n FROM mine")).toEqual({ status: 1, message: "no such table: mine", rows: [] });
  });

  it("answers an endless query with an error, and the next one with its rows", async () => {
    expect(await ask("SELECT 1 AS one")).toEqual(answered([{ one: "1" }]));
    const [endless, next] = await Promise.all([ask(ENDLESS, 1_500), ask("SELECT 2 AS two")]);
    expect(endless).toEqual({
      status: 1,
      message: "stopped because it took longer than 1.5 seconds",
      rows: [],
    });
    expect(next).toEqual(answered([{ two: "2" }]));
  });

  it("answers queries that would fill the memory, or the message, with an error", async () => {
    const blobs = "SELECT zeroblob(1000000) AS b FROM c";
    const many = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2000)`;
    expect(await ask(`${many} SELECT length(group_concat(hex(b))) AS n FROM (${blobs})`)).toMatchObject({
      status: 1,
      message: "out of memory",
    });
    expect(await ask(`${many} SELECT hex(zeroblob(5000)) AS b FROM c`)).toMatchObject({
      status: 1,
      message: "the result is larger than 4 MB: select fewer rows or columns",
    });
    expect(await ask("SELECT 1 AS one")).toEqual(answered([{ one: "1" }]));
  });

  it("is started again after it has ended, and reports why it cannot start", async () => {
    await ask("SELECT 1");
    const broken = new SecondProcess({ program: [process.execPath, "-e", "process.exit(3)"], signal: stop.signal });
    expect(await new IsolatedSession(broken, context).answer("SELECT 1")).toEqual({
      status: 1,
      message: "the process for queries has ended: exit code 3",
      rows: [],
    });
    const missing = new SecondProcess({ program: ["/nowhere/node"], signal: stop.signal });
    expect((await new IsolatedSession(missing, context).answer("SELECT 1")).message).toContain("ENOENT");
  });

  it("ends at once with the agent, in the middle of a query", async () => {
    await ask("SELECT 1");
    const running = ask(ENDLESS);
    const ended = expect(running).rejects.toThrow("aborted");
    stop.abort();
    await ended;
    expect(secondProcess.isRunning).toBe(false);
  });

  it("ends after some time without a query", async () => {
    const brief = new SecondProcess({ program: moduleProgram(), signal: stop.signal, idleMs: 50 });
    await new IsolatedSession(brief, context).answer("SELECT 1");
    await expect.poll(() => brief.isRunning).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("finds processes by their environment", async () => {
    const { spawn } = await import("node:child_process");
    const child = spawn("sleep", ["60"], { env: { ...process.env, SVC_TEST_MARK: "here" } });
    try {
      const variable = "SVC_TEST_MARK=here";
      expect(await secondProcess.run({ kind: "find-processes", variable }, 20_000)).toEqual([child.pid]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
