// The embedded store with 10,000 hosts and their software: memory, and the longest event-loop stall, snapshot included.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSimulation } from "../src/simulator/run.ts";
import { enrollHosts, SECRET } from "./support/fill.ts";
import { type Served, startServe } from "./support/serve.ts";

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 10_000);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const identityFile = join(dir, "agents.json");
  try {
    const filling = await startServe({ dataDir: dir });
    await enrollHosts(filling, hosts, { identityFile });
    console.log(`after enrolling ${hosts}: RSS ${mb(filling)} MB`);
    await filling.stop();
    // A small journal limit makes snapshots happen within the minute.
    const server = await startServe({ dataDir: dir, env: { SVC_SNAPSHOT_BYTES: "1000000" } });
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
      `60 s of check-ins: longest stall ${(metrics("svc_event_loop_stall_max_seconds") * 1000).toFixed(0)} ms, RSS ${mb(server)} MB, snapshots ${metrics('svc_store_stat{name="snapshots",engine="lowdb"}')}, read p99 ${report.byEndpoint.distributed_read.p99} ms, errors ${report.errors}`,
    );
    await server.stop();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const mb = (server: Served) => Math.round(server.usage().rss / 1e6);

/** The gauge holds the longest stall since it was last read. */
const resetStall = async (server: Served) => void (await metricsOf(server));

async function metricsOf(server: Served): Promise<(name: string) => number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return (name) =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(" ")
        .at(-1) ?? Number.NaN,
    );
}
