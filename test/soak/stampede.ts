// All agents reconnect at the same time, on new TLS connections, after a restart of the server.
//   npm run test:soak -- stampede --hosts 10000 --engine lowdb|postgres
import { join } from "node:path";
import { enrollHosts, SECRET } from "../../bench/support/fill.ts";
import { signIn } from "../../bench/support/serve.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf, until } from "./support/check.ts";

/** P5: the time limit for all agents to have their replies after the server listens again. */
const ANSWERED_MS = 30_000;

export interface StampedeOptions {
  readonly engine: "lowdb" | "postgres";
  readonly hosts: number;
}

export async function stampede({ engine, hosts }: StampedeOptions): Promise<string> {
  const bed = await Bed.make({ engine, args: ["--tls-self-signed"] });
  try {
    const identityFile = join(bed.notes, "agents.json");
    const enrolled = await enrollHosts(await bed.start(), hosts, { identityFile, software: 20 });
    insist(enrolled.enrolled === hosts, () => `${enrolled.enrolled} enrolled: ${enrolled.recentErrors.join("; ")}`);
    const simulation = new Simulation({
      serverUrl: bed.url,
      enrollSecret: SECRET,
      hosts,
      identityFile,
      softwarePerHost: 20,
      // One connection for each agent: three would cost the simulator more than the server.
      connections: "single",
      tls: { caFile: join(bed.dir, "tls", "cert.pem") },
      // Slow enough that the agents are connected and idle before the restart.
      spread: Math.max(2, hosts / 400),
    });
    simulation.start();
    const { stats } = simulation;
    const seen = () => stats.endpoints.distributed_read.latency.count;
    await until("all agents are connected", 120_000, () => simulation.agents.length === hosts && seen() >= hosts);
    simulation.pause();
    const before = { connections: simulation.connections, errors: stats.errors };
    await bed.stop();
    await until("the agents' connections are gone", 10_000, () => simulation.connections === 0);
    const server = await bed.start();
    stats.resetLatencies();
    const [sentBefore, simulatorBefore, serverBefore] = [stats.errors, process.cpuUsage(), server.usage().cpu];
    const answers = () => (stats.statuses.get(200) ?? 0) - answeredBefore;
    const answeredBefore = stats.statuses.get(200) ?? 0;
    const from = performance.now();
    let first = 0;
    const watch = setInterval(() => {
      if (first === 0 && answers() > 0) first = performance.now() - from;
    }, 1);
    const reconnected = await simulation.reconnectAll();
    clearInterval(watch);
    const seconds = (performance.now() - from) / 1000;
    const used = process.cpuUsage(simulatorBefore);
    const [simulator, serving] = [(used.user + used.system) / 1e6, server.usage().cpu - serverBefore];
    const { rss } = server.usage();
    const errors = stats.errors - sentBefore;
    const open = simulation.connections;
    const report = await simulation.stop();
    const { count } = await (await signIn(server))<{ count: number }>("GET", "/hosts/count");
    await bed.stop();

    const summary = `${engine}: ${before.connections} connections gone; ${reconnected.answered} of ${hosts} agents answered (configuration and queries) on ${open} new TLS connections, the first after ${Math.round(first)} ms, the last after ${Math.round(seconds * 1000)} ms; p99 of a request ${report.byEndpoint.config.p99} ms, ${errors} tries failed, CPU: server ${serving.toFixed(1)} s, simulator ${simulator.toFixed(1)} s (${Math.round((100 * simulator) / (simulator + serving))} % of both), server RSS ${Math.round(rss / 1e6)} MB`;
    const recent = () => `${summary}: ${report.recentErrors.join("; ")}`;
    insist(reconnected.answered === hosts, recent);
    insist(seconds * 1000 <= ANSWERED_MS, recent);
    insist(report.nodeInvalid === 0 && report.reEnrolled === 0, () => `agents were made to enroll again: ${recent()}`);
    insist(count === hosts, `${count} hosts instead of ${hosts}`);
    return summary;
  } finally {
    await bed.dispose();
  }
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const hosts = numberOf(args, "hosts", 10_000);
  const lines: string[] = [];
  for (const engine of ["lowdb", "postgres"] as const)
    if ((args.engine ?? "lowdb").includes(engine) || args.engine === "both")
      lines.push(await stampede({ engine, hosts }));
  insist(lines.length > 0, "--engine is lowdb, postgres or both");
  return lines.join("; ");
}
