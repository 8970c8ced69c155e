// Bulk calls that name 100,000 hosts: duration, and the longest time that they block the event loop. `npm run bench
// -- bulk [hosts] [lowdb|postgres]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import { Settings } from "../src/server/platform/core/settings/settings.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { fillHosts } from "./support/many-hosts.ts";
import { metricsOf, signIn, startServe } from "./support/serve.ts";

const SOFTWARE_EACH = 10;

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
    await filling.stop();

    const server = await startServe({
      dataDir: dir,
      args: ["--dev-license"],
      env: databaseUrl ? { SVC_DATABASE_URL: databaseUrl } : {},
    });
    const call = await signIn(server);
    const timed = async (what: string, path: string, body?: unknown) => {
      await metricsOf(server);
      const started = performance.now();
      await call(body === undefined ? "GET" : "POST", path, body);
      const seconds = (performance.now() - started) / 1000;
      const stall = (await metricsOf(server))("svc_event_loop_stall_max_seconds") * 1000;
      console.log(
        `${engine.padEnd(9)} ${what.padEnd(22)} ${seconds.toFixed(1)} s, longest stall ${stall.toFixed(0)} ms`,
      );
    };
    await timed("count with digest", "/hosts/count?digest=true");
    await timed(`transfer ${hosts} ids`, "/hosts/transfer", { team_id: teamId, hosts: ids });
    await timed("transfer by filter", "/hosts/transfer/filter", { team_id: null, filters: { team_id: teamId } });
    await timed(`delete ${hosts} ids`, "/hosts/delete", { ids });
    await server.stop();
  } finally {
    await database?.destroy();
    rmSync(dir, { recursive: true, force: true });
  }
}
