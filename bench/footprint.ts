// The embedded store with 10,000 hosts and their software: memory, and the longest event-loop stall, including a
// snapshot.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pino } from "pino";
import { loadServerKey } from "../src/server/platform/core/security/server-key.ts";
import { createCipher } from "../src/server/platform/store/cipher.ts";
import { openLowdb } from "../src/server/platform/store/lowdb/open.ts";
import { tables } from "../src/server/tables.ts";
import { runSimulation } from "../src/simulator/run.ts";
import { enrollHosts, SECRET } from "./support/fill.ts";
import { type BenchServer, metricsOf, startServe } from "./support/serve.ts";

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 10_000);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const identityFile = join(dir, "agents.json");
  try {
    const filling = await startServe({ dataDir: dir });
    await enrollHosts(filling, hosts, { identityFile });
    console.log(`after enrolling ${hosts}: RSS ${mb(filling)} MB`);
    await filling.stop();
    const server = await startServe({ dataDir: dir });
    console.log(`after a restart: RSS ${mb(server)} MB`);
    await resetStall(server);
    const report = await runSimulation({
      serverUrl: server.url,
      enrollSecret: SECRET,
      hosts,
      identityFile,
      duration: 60,
      softwarePerHost: 300,
      logLinesPerMinute: 1,
    });
    const metrics = await metricsOf(server);
    console.log(
      `60 s of check-ins: longest stall ${(metrics("svc_event_loop_stall_max_seconds") * 1000).toFixed(0)} ms, RSS ${mb(server)} MB, read p99 ${report.byEndpoint.distributed_read.p99} ms, errors ${report.errors}`,
    );
    await server.stop();
    await measureSnapshot(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A snapshot of the same store in this process, with concurrent reads: its duration, and the longest stall. */
async function measureSnapshot(dir: string): Promise<void> {
  const cipher = createCipher(await loadServerKey({ data_dir: dir }));
  const store = await openLowdb({ tables, dir: join(dir, "db"), cipher, log: pino({ level: "silent" }) });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let reads = 0;
  const reading = setInterval(() => void store.hosts.list({ limit: 50 }).then(() => reads++), 2);
  const started = performance.now();
  await store.compact();
  const took = performance.now() - started;
  clearInterval(reading);
  delay.disable();
  const { snapshot_bytes: bytes = 0, rows } = store.stats();
  console.log(
    `a snapshot of ${rows} rows, ${Math.round(bytes / 1e6)} MB: ${took.toFixed(0)} ms beside ${reads} reads, longest stall ${(delay.max / 1e6).toFixed(0)} ms`,
  );
  await store.close();
}

const mb = (server: BenchServer) => Math.round(server.usage().rss / 1e6);

/** The gauge contains the longest stall since it was last read. */
const resetStall = async (server: BenchServer) => void (await metricsOf(server));
