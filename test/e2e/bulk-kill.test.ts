// kill -9 of the server while it wipes many hosts: another server goes on, and no host is wiped twice.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Task } from "../../src/api/platform/tasks.ts";
import { type RunningServer, startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { and, eq, oneOf } from "../../src/server/platform/store/query.ts";
import { isWholeRun, killedEngines } from "../support/engines.ts";
import { hostRow, makeSession } from "../support/make.ts";
import { freshDatabase } from "../support/postgres.ts";

const SERVER = fileURLToPath(new URL("support/source-server.ts", import.meta.url));
const HOSTS = 600;
/** The number of hosts that are wiped when the server is killed. */
const KILLS = isWholeRun ? [1, 100, 300] : [100];

const undo: (() => unknown)[] = [];
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "svc-approval-"));
  undo.push(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function spawned(settings: object): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", SERVER, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  undo.push(() => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (data: Buffer) => {
      text += data.toString();
      if (text.includes("\n")) resolve(text.trim());
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, url };
}

const killed = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });

/** The token of an admin, inserted directly into the store. */
async function adminToken({ services }: RunningServer): Promise<string> {
  const { store, clock } = services;
  const at = { created_at: clock.iso(), updated_at: clock.iso() };
  const row = { ...at, name: "ada", email: "ada@example.com", global_role: "admin", api_only: true } as const;
  const { id } = await store.users.insert(row);
  // From the real clock, because the server that uses it runs by it.
  return makeSession({ store, clock } as never, id);
}

/** Every third host has no agent, and cannot be wiped. */
async function makeHosts({ services: { store, clock } }: RunningServer): Promise<number[]> {
  const rows = Array.from({ length: HOSTS }, () => hostRow(clock.iso(), { platform: "ubuntu" }));
  const ids = (await store.hosts.insertMany(rows)).map(({ id }) => id);
  const agents = ids.filter((_, i) => i % 3 !== 0);
  await store.managedAgents.insertMany(
    agents.map((id) => ({ id, agent_key_hash: `of ${id}`, enrolled_at: clock.iso() })),
  );
  return ids;
}

it.each(killedEngines)(
  "is continued, and nothing is done twice (%s)",
  async (engine) => {
    const database = engine === "postgres" ? await freshDatabase() : null;
    if (database) undo.push(() => database.drop());
    const settings = { data_dir: dir, port: 0, ...(database ? { database_url: database.url } : {}) };
    const here = () => startServer(Settings.parse(settings), pino({ level: "silent" }));

    const first = await here();
    const token = await adminToken(first);
    const work: number[][] = [];
    for (const _ of KILLS) work.push(await makeHosts(first));
    await first.stop();

    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    for (const [i, ids] of work.entries()) {
      const { child, url } = await spawned(settings);
      const answer = fetch(`${url}/api/v1/svc/hosts/wipe`, {
        method: "POST",
        headers,
        body: JSON.stringify({ ids }),
      }).catch(() => null);
      await expect.poll(() => progressOf(url, headers, i + 1), { interval: 5 }).toBeGreaterThanOrEqual(KILLS[i]!);
      await killed(child);
      await answer;

      const server = await here();
      const { store } = server.services;
      const [task] = await store.tasks.list({ order: [{ column: "id", direction: "desc" }], limit: 1 });
      console.log(`${engine}: killed after ${task!.progress} of ${task!.total} hosts`);
      // On Postgres the dead server may still be at work, as far as others know: its lease ends a minute later.
      const past = { runner_until: new Date(Date.now() - 1000).toISOString() };
      await store.tasks.update({ where: eq("state", "running"), set: past });
      await store.notify("svc_tasks", "");
      await expect.poll(async () => (await store.tasks.get(task!.id))!.state, { timeout: 60_000 }).toBe("done");

      const outcomes = await store.taskHosts.list({ where: eq("task_id", task!.id) });
      expect(outcomes.map(({ host_id }) => host_id).sort((a, b) => a - b)).toEqual(ids);
      const done = outcomes.filter(({ outcome }) => outcome === "done").map(({ host_id }) => host_id);
      expect(done).toHaveLength((HOSTS * 2) / 3);
      const wipes = await store.operations.list({ where: and(eq("kind", "wipe"), oneOf("host_id", ids)) });
      expect(wipes.map(({ host_id }) => host_id).sort((a, b) => a - b)).toEqual(done.sort((a, b) => a - b));
      const recorded = await store.activities.list({ where: and(eq("type", "wiped_host"), oneOf("host_id", ids)) });
      expect(recorded).toHaveLength(done.length);
      await server.stop();
    }
  },
  240_000,
);

/** How far the last of this many tasks has got; 0 if it does not exist yet. */
async function progressOf(url: string, headers: Record<string, string>, tasks: number): Promise<number> {
  const res = await fetch(`${url}/api/v1/svc/tasks`, { headers });
  const reply = (await res.json()) as { tasks: Task[] };
  return reply.tasks.length < tasks ? 0 : reply.tasks[0]!.progress;
}
