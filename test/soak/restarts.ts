// SIGTERM under load: the server is restarted again and again while clients send requests without a pause, on kept
// connections and on new ones. No connection may be cut, and none refused before the listener's grace is over.
//   npm run test:soak -- restarts --restarts 10 --clients 8 [--engine lowdb|postgres] [--workers 2] [--tls]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tokenOf } from "../../bench/support/serve.ts";
import { enroll, withSecret } from "../e2e/support/agents.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf, until } from "./support/check.ts";
import { Pressure, type PressureRequest, type Tally } from "./support/pressure.ts";

/** R5: how long a stop may take. */
const R5_MS = 10_000;
/** Timers, and what lies between the signal and the server's hearing of it, on a busy machine. */
const TIMER_MS = 20;

export interface RestartOptions {
  readonly engine: "lowdb" | "postgres";
  readonly workers: number;
  readonly tls: boolean;
  readonly restarts: number;
  /** Clients of each kind. */
  readonly clients: number;
  readonly graceMs: number;
  /** How long a stop may take after the grace. */
  readonly stopMs: number;
  /**
   * Whether there are, too, clients that open connections at random times without a pause, so that there is no quiet
   * moment.
   */
  readonly open?: boolean;
  /** An empty database to use instead of a Postgres server of the test's own. */
  readonly databaseUrl?: string;
}

export async function restarts(options: RestartOptions): Promise<string> {
  const { engine, workers, tls, graceMs } = options;
  const args = [...(tls ? ["--tls-self-signed"] : []), ...(workers > 1 ? ["--workers", String(workers)] : [])];
  const { databaseUrl } = options;
  const env = {
    SVC_SHUTDOWN_GRACE: `${graceMs}ms`,
    SVC_LOG_LEVEL: "info",
    ...(databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl }),
  };
  const bed = await Bed.make({ engine: databaseUrl === undefined ? engine : "lowdb", args, env });
  try {
    return await restartUnderLoad(bed, options);
  } finally {
    await bed.dispose();
  }
}

async function restartUnderLoad(bed: Bed, options: RestartOptions): Promise<string> {
  const { clients, graceMs, stopMs, tls } = options;
  const first = await bed.start();
  await withSecret(first);
  const nodeKey = await enroll(first, "host-1");
  const token = await tokenOf(first);
  const ca = tls ? { ca: readFileSync(join(bed.dir, "tls", "cert.pem"), "utf8") } : {};
  const pressure = new Pressure({ url: bed.url, ...ca }, asks(nodeKey, token));
  pressure.add({ kind: "kept", clients });
  pressure.add({ kind: "kept", clients, thinkMs: 40 });
  pressure.add({ kind: "single", clients });
  if (options.open) pressure.add({ kind: "single", clients, everyMs: 40 });
  const signals: number[] = [];
  const stops: number[] = [];
  const early: number[] = [];
  let waited = 0;
  for (let restart = 0; restart < options.restarts; restart++) {
    const { tally } = pressure;
    const before = tally.answered;
    await until("clients are answered", 30_000, () => tally.answered > before + 20 * clients);
    const from = performance.now();
    signals.push(from);
    const refusedBefore = tally.refused.length;
    await bed.stop();
    stops.push(performance.now() - from);
    early.push(...tally.refused.slice(refusedBefore).filter((at) => at < from + graceMs - TIMER_MS));
    const starting = performance.now();
    await bed.start();
    waited += performance.now() - starting;
  }
  const tally = await pressure.stop();
  await bed.stop();
  const slowest = Math.round(Math.max(...stops));
  const summary = `${nameOf(options)}: ${options.restarts} restarts, ${tally.asked} requests, ${tally.answered} answered (${tally.overloaded} with 503, overloaded), ${tally.refused.length} refused while nobody listened, ${tally.failures.length} cut; a stop took at most ${slowest} ms, a start ${Math.round(waited / options.restarts)} ms on average`;
  insist(tally.answered > 20 * clients * options.restarts, () => `too few requests: ${summary}`);
  insist(early.length === 0, () => `${early.length} connections were refused within the grace: ${summary}`);
  if (!options.open) insist(tally.failures.length === 0, () => `${summary}\n${failuresOf(tally, signals)}`);
  insist(slowest < graceMs + stopMs, () => `a stop took too long: ${summary}`);
  return options.open ? `${summary}\n${failuresOf(tally, signals)}` : summary;
}

const nameOf = ({ engine, workers, tls }: RestartOptions): string =>
  `${engine}${tls ? ", TLS" : ""}${workers > 1 ? `, ${workers} workers` : ""}`;

/** What failed, and how long after which signal. */
function failuresOf({ failures }: Tally, signals: readonly number[]): string {
  const lines = failures.slice(0, 20).map(({ at, kind, reason }) => {
    const restart = signals.filter((signal) => signal <= at).length;
    return `  restart ${restart}, ${Math.round(at - (signals[restart - 1] ?? 0))} ms after the signal: ${kind} ${reason}`;
  });
  return lines.join("\n");
}

/** An agent's read (answered from memory) and write (stored), and an API call. */
function asks(node_key: string, token: string): PressureRequest[] {
  const agent = { method: "POST", headers: { "content-type": "application/json" } } as const;
  return [
    { ...agent, path: "/api/v1/qengine/config", body: JSON.stringify({ node_key }) },
    {
      ...agent,
      path: "/api/v1/qengine/distributed/write",
      body: JSON.stringify({ node_key, queries: {}, statuses: {}, messages: {} }),
    },
    { method: "GET", path: "/api/v1/svc/hosts/count", headers: { authorization: `Bearer ${token}` } },
  ];
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const [count, clients] = [numberOf(args, "restarts", 10), numberOf(args, "clients", 8)];
  const graceMs = numberOf(args, "grace", 1_000);
  const lines: string[] = [];
  const variants: Pick<RestartOptions, "engine" | "workers">[] = [
    { engine: "lowdb", workers: 1 },
    { engine: "postgres", workers: 1 },
    { engine: "postgres", workers: 2 },
  ];
  for (const tls of [false, true])
    for (const variant of variants) {
      if (args.engine !== undefined && args.engine !== variant.engine) continue;
      if (args.workers !== undefined && Number(args.workers) !== variant.workers) continue;
      if (args.tls !== undefined && args.tls !== String(tls)) continue;
      const options = { ...variant, tls, restarts: count, clients, graceMs, stopMs: R5_MS };
      lines.push(await restarts({ ...options, ...(args.open === undefined ? {} : { open: true }) }));
    }
  return `\n${lines.join("\n")}`;
}
