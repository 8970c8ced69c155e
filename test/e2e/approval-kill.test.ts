// kill -9 of the server while it runs an approved delete: the approved action is completed, once per host.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningServer, startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { eq, oneOf } from "../../src/server/platform/store/query.ts";
import { makeApproval } from "../support/approvals.ts";
import { isWholeRun, killedEngines } from "../support/engines.ts";
import { hostRow, makeSession } from "../support/make.ts";
import { freshDatabase } from "../support/postgres.ts";

const SERVER = fileURLToPath(new URL("support/source-server.ts", import.meta.url));
const HOSTS = 900;
/**
 * The delay in milliseconds before the server is killed (0: before the request can arrive), or as soon as it has
 * started to work.
 */
const KILLS: readonly (number | "deleting")[] = isWholeRun ? [0, 100, "deleting", "deleting"] : [0, "deleting"];

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

/** Users and their tokens, inserted directly into the store. */
async function people({ services }: RunningServer) {
  const { store, clock } = services;
  const make = async (name: string) => {
    const at = { created_at: clock.iso(), updated_at: clock.iso() };
    const email = `${name}@example.com`;
    return store.users.insert({ ...at, name, email, global_role: "admin", api_only: true });
  };
  const [mia, ada] = [await make("mia"), await make("ada")];
  // From the real clock, because the server that uses them runs by it.
  return { mia: mia.id, token: await makeSession({ store, clock } as never, ada.id) };
}

it.each(killedEngines)(
  "is continued, and nothing is done twice (%s)",
  async (engine) => {
    const database = engine === "postgres" ? await freshDatabase() : null;
    if (database) undo.push(() => database.drop());
    const settings = { data_dir: dir, port: 0, ...(database ? { database_url: database.url } : {}) };
    const here = () => startServer(Settings.parse(settings), pino({ level: "silent" }));

    const first = await here();
    const { mia, token } = await people(first);
    const work: { id: number; hosts: number[] }[] = [];
    for (const _ of KILLS) {
      const { store, clock } = first.services;
      const rows = Array.from({ length: HOSTS }, () => hostRow(clock.iso()));
      const hosts = (await store.hosts.insertMany(rows)).map(({ id }) => id);
      const { id } = await makeApproval({ services: first.services, store }, mia, hosts);
      work.push({ id, hosts });
    }
    await first.stop();

    const headers = { authorization: `Bearer ${token}` };
    const hostsAt = async (at: string) => {
      const res = await fetch(`${at}/api/v1/svc/hosts/count`, { headers });
      return ((await res.json()) as { count: number }).count;
    };
    const outcomes: string[] = [];
    for (const [i, { id, hosts }] of work.entries()) {
      const { child, url } = await spawned(settings);
      const approve = (at: string) =>
        fetch(`${at}/api/v1/svc/approvals/${id}/approve`, {
          method: "POST",
          headers,
        });
      const answer = approve(url).then(
        ({ status }) => status,
        () => null,
      );
      const when = KILLS[i]!;
      // The state of a request is shown a moment before it is on the disk, but nothing is deleted before that.
      if (when === "deleting") await expect.poll(() => hostsAt(url)).toBeLessThan((work.length - i) * HOSTS);
      else if (when > 0) await new Promise((resolve) => setTimeout(resolve, when));
      await killed(child);
      const acknowledged = await answer;

      const server = await here();
      const { store } = server.services;
      const { state } = (await store.approvals.get(id))!;
      const left = await store.hosts.count(oneOf("id", hosts));
      outcomes.push(`${acknowledged} ${state} ${left}`);
      if (acknowledged !== null) expect(["approved", "done"]).toContain(state);
      if (when === "deleting") expect(["approved", "done"]).toContain(state);
      if (state === "pending") {
        expect(left).toBe(HOSTS);
        // 202: it goes on after ten seconds.
        expect([200, 202]).toContain((await approve(server.url)).status);
      } else {
        // On Postgres the dead server may still be at work, as far as others know: its lease ends a minute later.
        const past = { runner_until: new Date(Date.now() - 1000).toISOString() };
        await store.tasks.update({ where: eq("state", "running"), set: past });
        await store.notify("svc_tasks", "");
      }
      await expect.poll(async () => (await store.approvals.get(id))!.state).toBe("done");
      expect(await store.hosts.count(oneOf("id", hosts))).toBe(0);
      const told = await store.activities.list({ where: eq("type", "deleted_host") });
      const ids = told.map(({ details }) => Number(details?.host_id)).filter((host) => hosts.includes(host));
      expect(ids).toHaveLength(HOSTS);
      expect(new Set(ids).size).toBe(HOSTS);
      expect(await store.activities.count(eq("type", "granted_approval"))).toBe(i + 1);
      await server.stop();
    }
    console.log(`${engine}: answer, state and hosts left after the kill: ${outcomes.join("; ")}`);
  },
  240_000,
);
