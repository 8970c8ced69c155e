// The cost of 50 policies: hourly check-ins (poll, inventory, labels) of hosts with and without them, in alternating
// rounds of one run, on both stores. In each round one host in a hundred changes its results of some policies.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { extensions } from "../src/server/extensions.ts";
import { type Features, startFeatures } from "../src/server/features.ts";
import type { Services } from "../src/server/platform/core/context.ts";
import { createMetrics } from "../src/server/platform/core/logging/metrics.ts";
import { systemRandom, tokenHash } from "../src/server/platform/core/random.ts";
import { withRunning } from "../src/server/platform/core/running.ts";
import { Settings } from "../src/server/platform/core/settings/settings.ts";
import { fileBlobs } from "../src/server/platform/store/blobs/files.ts";
import { createCipher } from "../src/server/platform/store/cipher.ts";
import { openLowdb } from "../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../src/server/platform/store/postgres/open.ts";
import { createConfigReader } from "../src/server/settings/app-config/service.ts";
import { tables } from "../src/server/tables.ts";
import { SimulatedAgent } from "../test/edge/agent/agents.ts";
import { hostRow, makePolicy, makeTeam } from "../test/support/make.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { median } from "./support/figures.ts";

const POLICIES = 50;
const SOFTWARE = 300;
const MAX_CONCURRENT = 64;
const ROUNDS = 5;
const HOUR = 3_600_000;
/** Number of different sets of results. */
const KINDS = 7;

/** A clock that can be advanced, so that everything is due again. */
class MovedClock {
  #ahead = 0;
  now = () => Date.now() + this.#ahead;
  iso = () => new Date(this.now()).toISOString();
  sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
  advance(ms: number): void {
    this.#ahead += ms;
  }
}

interface Bench {
  readonly services: Services;
  readonly features: Features;
  readonly clock: MovedClock;
}
interface Side {
  readonly keys: readonly string[];
  /** Request bodies by kind, split where the node key is inserted. */
  readonly bodies: readonly (readonly [Buffer, Buffer])[];
}

async function open(dir: string, url: string | null): Promise<Bench & { close(): Promise<void> }> {
  const log = pino({ level: "warn" });
  const cipher = createCipher(Buffer.alloc(32, 7));
  const store =
    url === null
      ? await openLowdb({ tables, dir: join(dir, "db"), cipher, log })
      : await openPostgres({ tables, url, cipher, log, create: true, poolSize: 10 });
  const clock = new MovedClock();
  const services = withRunning({
    settings: Settings.parse({ data_dir: dir, result_log: "none", status_log: "none", max_jitter_percent: 0 }),
    store,
    blobs: fileBlobs(join(dir, "blobs")),
    clock,
    random: systemRandom,
    log,
    metrics: createMetrics(),
    license: { tier: "premium", expiration: "2100-01-01T00:00:00Z" },
    config: await createConfigReader(store),
    setupToken: "",
    extensions,
    dryRun: null,
  });
  const features = await startFeatures(services);
  return {
    services,
    features,
    clock,
    async close() {
      await features.stop();
      await store.close();
    },
  };
}

const call = (
  { features }: Bench,
  endpoint: "distributed/read" | "distributed/write",
  body: Buffer,
): Promise<{ body: string }> =>
  Promise.resolve(features.agent.replyTo(endpoint, { body, authorization: undefined, address: "127.0.0.1" }));

const asks = (key: string) => Buffer.from(JSON.stringify({ node_key: key }));

/** Inserts hosts with a known platform into the store, and prepares their results for when all queries are due. */
async function side(bench: Bench, hosts: number, name: string, teamId: number): Promise<Side> {
  const { store } = bench.services;
  const machine = new SimulatedAgent(async () => Promise.reject(new Error("no wire")), "linux", 0, SOFTWARE);
  const keys = Array.from({ length: hosts }, (_, i) => `${name}-${i}-${"k".repeat(20)}`);
  for (let at = 0; at < hosts; at += 1000)
    await store.hosts.insertMany(
      keys.slice(at, at + 1000).map((key) => ({
        ...hostRow(bench.clock.iso(), { hostname: machine.machine.hostname, platform: "ubuntu" }),
        team_id: teamId,
        node_key_hash: tokenHash(key),
        refetch_requested: false,
        distributed_interval: 10,
      })),
    );
  const work = JSON.parse((await call(bench, "distributed/read", asks(keys[0]!))).body);
  const answers = machine.answers(work);
  const bodies = Array.from({ length: KINDS }, (_, kind): [Buffer, Buffer] => {
    const queries = Object.fromEntries(
      Object.entries(answers.queries).map(([query, rows], i) => [
        query,
        query.startsWith("svc_policy_query_") ? ((i + kind) % KINDS === 0 ? [] : [{ "1": "1" }]) : rows,
      ]),
    );
    const [head, tail] = JSON.stringify({ ...answers, queries, node_key: "@KEY@" }).split("@KEY@");
    return [Buffer.from(head!), Buffer.from(tail!)];
  });
  return { keys, bodies };
}

interface Measurement {
  /** Check-ins per second. */
  readonly rate: number;
  /** CPU time of this process per check-in, in milliseconds (without the database's). */
  readonly cpu: number;
}

/** Every host checks in once. */
async function round(bench: Bench, { keys, bodies }: Side, changing: boolean): Promise<Measurement> {
  const before = process.cpuUsage();
  const started = performance.now();
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < keys.length; i = next++) {
      const read = await call(bench, "distributed/read", asks(keys[i]!));
      if (read.body.length < 1000) throw new Error(`nothing was due: ${read.body}`);
      const [head, tail] = bodies[(changing && i % 100 === 0 ? i + 1 : i) % KINDS]!;
      const reply = await call(bench, "distributed/write", Buffer.concat([head, Buffer.from(keys[i]!), tail]));
      if (reply.body !== "{}") throw new Error(reply.body);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { rate: keys.length / seconds, cpu: (user + system) / 1000 / keys.length };
}

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 10_000);
  const engines = args[1] === undefined ? ["lowdb", "postgres"] : [args[1]];
  for (const engine of engines) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres({ fsync: true }) : null;
    const bench = await open(dir, postgres?.url() ?? null);
    try {
      const { store } = bench.services;
      const maker = { store, clock: bench.clock as never };
      const [questioned, spared] = [await makeTeam(maker, "asked"), await makeTeam(maker, "spared")];
      for (let i = 0; i < POLICIES; i++)
        await makePolicy(maker, {
          scope: "team",
          team_id: questioned.id,
          query: `SELECT 1 FROM os_version WHERE platform = 'ubuntu' AND version <> '${i}.04' LIMIT 1;`,
        });
      const withThem = await side(bench, hosts, "with", questioned.id);
      const without = await side(bench, hosts, "without", spared.id);
      const firsts = [await round(bench, without, false), await round(bench, withThem, false)];
      const rounds: { withThem: Measurement; without: Measurement }[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        bench.clock.advance(HOUR + 1000);
        const bare = await round(bench, without, i % 2 === 0);
        rounds.push({ without: bare, withThem: await round(bench, withThem, i % 2 === 0) });
      }
      // Counts are updated shortly after the last result.
      await new Promise((done) => setTimeout(done, 1000));
      const policies = await store.policies.list();
      const wrong = policies.filter((row) => row.passing_host_count + row.failing_host_count !== hosts).length;
      const ratios = rounds.map((round) => round.withThem.rate / round.without.rate);
      const cpu = median(rounds.map((round) => round.without.cpu / round.withThem.cpu));
      const of = (key: "withThem" | "without") =>
        `${median(rounds.map((round) => round[key].rate)).toFixed(0)}/s (${median(rounds.map((round) => round[key].cpu)).toFixed(2)} ms)`;
      console.log(
        `${engine.padEnd(9)} ${hosts} hosts x ${POLICIES} policies: ${median(ratios).toFixed(2)} of the check-ins without policies by rate (${ratios.map((ratio) => ratio.toFixed(2)).join(", ")}), ${cpu.toFixed(2)} by processor time; ${of("withThem")} against ${of("without")}; first answers ${firsts[1]!.rate.toFixed(0)}/s against ${firsts[0]!.rate.toFixed(0)}/s; policies with wrong counts: ${wrong}`,
      );
    } finally {
      await bench.close();
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}
