// Bulk calls that name 100,000 hosts: duration, and the longest time that they block the event loop. `npm run bench
// -- bulk [hosts] [lowdb|postgres]`. Actions on hosts, such as a lock, are tried out and done on some of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import type { Services } from "../src/server/platform/core/context.ts";
import { Settings } from "../src/server/platform/core/settings/settings.ts";
import { oneOf } from "../src/server/platform/store/query.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { fillHosts } from "./support/many-hosts.ts";
import { type Caller, metricsOf, signIn, startServe } from "./support/serve.ts";

const SOFTWARE_EACH = 10;
/** Hosts that each action is done on. */
const ACTED_ON = 5_000;
const BATCH_SIZE = 2_000;
const PAUSE_MS = 50;
const dryRun = { "dry-run": "true" };

interface Reply {
  readonly task_id?: number | null;
}

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 100_000);
  const engines = (["lowdb", "postgres"] as const).filter((engine) => !args[1] || args[1] === engine);
  for (const engine of engines) await measure(engine, hosts);
}

async function measure(engine: "lowdb" | "postgres", hosts: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const database = engine === "postgres" ? await startPostgres() : null;
  const databaseUrl = database?.url();
  try {
    const settings = Settings.parse({ data_dir: dir, port: 0, ...(databaseUrl ? { database_url: databaseUrl } : {}) });
    const filling = await startServer(settings, pino({ level: "silent" }));
    const { teamId } = await fillHosts(filling.services, hosts, SOFTWARE_EACH);
    const ids = (await filling.services.store.hosts.pick(["id"])).map(({ id }) => id);
    await giveAgents(filling.services);
    await filling.stop();

    const server = await startServe({
      dataDir: dir,
      args: ["--dev-license"],
      env: databaseUrl ? { SVC_DATABASE_URL: databaseUrl } : {},
    });
    const call = await signIn(server);
    const timed = async (what: string, path: string, body?: unknown, isDry = false) => {
      await metricsOf(server);
      const started = performance.now();
      const reply = await call<Reply>(body === undefined ? "GET" : "POST", path, body, isDry ? dryRun : {});
      await endOf(call, reply);
      const seconds = (performance.now() - started) / 1000;
      const stall = (await metricsOf(server))("svc_event_loop_stall_max_seconds") * 1000;
      console.log(
        `${engine.padEnd(9)} ${what.padEnd(22)} ${seconds.toFixed(1)} s, longest stall ${stall.toFixed(0)} ms`,
      );
    };
    await timed("count with digest", "/hosts/count?digest=true");
    await timed(`transfer ${hosts} ids`, "/hosts/transfer", { team_id: teamId, hosts: ids });
    await timed("transfer by filter", "/hosts/transfer/filter", { team_id: null, filters: { team_id: teamId } });
    await timed(`try to lock ${hosts} ids`, "/hosts/lock", { ids }, true);
    for (const [at, action] of ["lock", "wipe", "refetch"].entries()) {
      const targets = ids.slice(at * ACTED_ON, (at + 1) * ACTED_ON);
      await timed(`try to ${action} ${targets.length}`, `/hosts/${action}`, { ids: targets }, true);
      await timed(`${action} ${targets.length}`, `/hosts/${action}`, { ids: targets });
    }
    await timed(`delete ${hosts} ids`, "/hosts/delete", { ids });
    await server.stop();
  } finally {
    await database?.destroy();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Agents that can lock and wipe their hosts, on three in four of those that they run on. */
async function giveAgents({ store, clock }: Services): Promise<void> {
  const where = oneOf("platform", ["ubuntu", "rhel", "windows"]);
  const ids = (await store.hosts.pick(["id"], { where })).map(({ id }) => id).filter((id) => id % 4 !== 0);
  const managedIds = new Set((await store.managedAgents.pick(["id"])).map(({ id }) => id));
  const rows = ids
    .filter((id) => !managedIds.has(id))
    .map((id) => ({ id, agent_key_hash: `agent ${id}`, enrolled_at: clock.iso() }));
  for (let at = 0; at < rows.length; at += BATCH_SIZE)
    await store.managedAgents.insertMany(rows.slice(at, at + BATCH_SIZE), { returning: [] });
}

/** Waits until the task of the reply has ended. */
async function endOf(call: Caller, { task_id: id }: Reply): Promise<void> {
  if (typeof id !== "number") return;
  for (;;) {
    const { task } = await call<{ task: { finished_at: string | null } }>("GET", `/tasks/${id}`);
    if (task.finished_at !== null) return;
    await setTimeout(PAUSE_MS);
  }
}
