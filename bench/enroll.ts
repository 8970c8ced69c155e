// Enrollment of hosts with a complete first inventory (300 software entries each), on both stores, or on one
// (`npm run bench -- enroll 3000 postgres`), 64 hosts at a time. The simulator runs on the same cores, but makes the
// inventories before the clock starts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres-server.ts";
import { enrollHosts } from "./support/fill.ts";
import { startServe } from "./support/serve.ts";

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 3_000);
  const engines = (["lowdb", "postgres"] as const).filter((engine) => args[1] === undefined || args[1] === engine);
  for (const engine of engines) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      const used = () => {
        const { user, system } = process.cpuUsage();
        return { server: server.usage().cpu, database: postgres?.cpu() ?? 0, simulator: (user + system) / 1e6 };
      };
      let before = used();
      const report = await enrollHosts(server, hosts, {
        prepared: true,
        onEnrollment: () => {
          before = used();
        },
      });
      const after = used();
      const { perSecond, seconds } = report.enrollment!;
      const { rss } = server.usage();
      const perHost = (seconds: number) => ((seconds / hosts) * 1000).toFixed(2);
      const database = postgres ? `, Postgres ${perHost(after.database - before.database)}` : "";
      console.log(
        `${engine.padEnd(9)} ${hosts} hosts in ${seconds.toFixed(1)} s: ${perSecond.toFixed(0)}/s, server CPU ${perHost(after.server - before.server)} ms a host${database}, simulator ${perHost(after.simulator - before.simulator)}, RSS ${Math.round(rss / 1e6)} MB, errors ${report.errors}`,
      );
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}
