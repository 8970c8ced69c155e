// Complete lists of hosts as files: the CSV report, and the JSON list from which the command line makes ndjson and
// exports. The server's CPU time per row, the duration alone and beside agents, and memory. Small fleets are measured
// twice: soon after the start, when much of the code is yet to be compiled, and again, as in a server that has run for a
// while. `npm run bench -- exports [lowdb|postgres] [hosts] [alone]`
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import { runSimulation } from "../src/simulator/run.ts";
import { median } from "./support/figures.ts";
import { SECRET } from "./support/fill.ts";
import { fillHosts } from "./support/many-hosts.ts";
import { type EngineName, makePlace } from "./support/place.ts";
import { type BenchServer, signIn, startServe } from "./support/serve.ts";
import { settled } from "./support/settled.ts";

const paths = {
  "CSV, all columns": "/hosts/report?format=csv",
  "CSV, three columns": "/hosts/report?format=csv&columns=hostname,os_version,primary_ip",
  "CSV, by hostname": "/hosts/report?format=csv&order_key=hostname",
  "JSON list": "/hosts",
};
const AGENTS = 2000;

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const size = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 0);
  for (const engine of ["lowdb", "postgres"] as const)
    if (only === undefined || only === engine)
      for (const hosts of size ? [size] : [2000, 100_000]) await measure(engine, hosts, args.includes("alone"));
}

async function measure(engine: EngineName, hosts: number, isAlone: boolean): Promise<void> {
  const place = await makePlace(engine);
  try {
    const filling = await startServer(place.settings, pino({ level: "silent" }));
    await fillHosts(filling.services, hosts, 10);
    await filling.stop();
    await place.analyze();
    const { data_dir: dataDir, database_url: databaseUrl } = place.settings;
    const env = { SVC_DEV_LICENSE: "true", ...(databaseUrl ? { SVC_DATABASE_URL: databaseUrl } : {}) };
    const server = await startServe({ dataDir, env: { ...env, ...nodeArgs() } });
    try {
      // The profiles and settings that were inserted are reconciled after the start.
      await settled(server, place);
      await measureServer(`${engine}, ${hosts} hosts`, server, hosts, isAlone || hosts > 10_000);
    } finally {
      await server.stop();
    }
  } finally {
    await place.remove();
  }
}

/** Node options for the measured process, such as `--cpu-prof`. */
const nodeArgs = (): Record<string, string> =>
  process.env.BENCH_NODE_ARGS ? { NODE_ARGS: process.env.BENCH_NODE_ARGS } : {};

async function measureServer(title: string, server: BenchServer, hosts: number, isAlone: boolean): Promise<void> {
  const call = await signIn(server);
  await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  const { token } = await call<{ token: string }>("POST", "/login", { email: server.email, password: server.password });
  const download = (path: string) => downloadOnce(server, path, token);
  const rounds = hosts > 10_000 ? 3 : 30;
  const alone = new Map<string, number>();
  for (const when of hosts > 10_000 ? [title] : [title, `${title}, again`])
    for (const [what, path] of Object.entries(paths)) {
      for (let i = 0; i < Math.min(3, rounds); i++) await download(path);
      const { cpu, rss } = server.usage();
      const took: number[] = [];
      let peak = rss;
      for (let i = 0; i < rounds; i++) {
        const measurement = await download(path);
        took.push(measurement.milliseconds);
        peak = Math.max(peak, measurement.peak);
      }
      const perRow = ((server.usage().cpu - cpu) * 1e6) / (rounds * hosts);
      alone.set(what, median(took));
      console.log(
        `${when}: ${what}: ${median(took).toFixed(0)} ms, ${perRow.toFixed(1)} us of CPU a row, ${((peak - rss) / 2 ** 20).toFixed(0)} MiB more`,
      );
    }
  if (isAlone) return;
  const running = runSimulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts: AGENTS,
    duration: 40,
    softwarePerHost: 50,
    logLinesPerMinute: 1,
  });
  await new Promise((resolve) => setTimeout(resolve, 25_000));
  for (const [what, path] of Object.entries(paths)) {
    const took: number[] = [];
    for (let i = 0; i < 10; i++) took.push((await download(path)).milliseconds);
    // The enrolled agents are rows too.
    const rows = (hosts + AGENTS) / hosts;
    console.log(
      `${title} beside ${AGENTS} agents: ${what}: ${(median(took) / rows).toFixed(0)} ms for as many rows, ${(median(took) / rows / alone.get(what)!).toFixed(2)} of the time alone`,
    );
  }
  await running;
}

async function downloadOnce(server: BenchServer, path: string, token: string) {
  const from = performance.now();
  const reply = await server.send(`/api/v1/svc${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!reply.ok || reply.body === null) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  let peak = 0;
  let looked = 0;
  for await (const _chunk of reply.body) {
    if (performance.now() - looked < 20) continue;
    looked = performance.now();
    peak = Math.max(peak, server.usage().rss);
  }
  return { milliseconds: performance.now() - from, peak };
}
