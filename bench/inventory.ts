// The cost for the server of an hourly inventory with 300 unchanged software entries, compared with the same reply
// without any, and of one of which 5 entries have changed: CPU time per request over HTTP, in alternating rounds.
// `npm run bench -- inventory [HOSTS] [ROUNDS] [changed]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { SECRET, withSecret } from "../test/e2e/support/agents.ts";
import { type Send, SimulatedAgent, throughUrl } from "../test/edge/agent/agents.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { median } from "./support/figures.ts";
import { startServe } from "./support/serve.ts";

const ENTRIES = 300;
const CHANGED = 5;
/** The counts of software follow a change within this time (milliseconds). */
const COUNTED_AFTER = 7_500;
const CONNECTIONS = 8;
const families = ["linux", "darwin", "windows"] as const;
const WRITE = "/api/v1/qengine/distributed/write";

const kinds = ["full", "empty", "changed"] as const;
type Kind = (typeof kinds)[number];

/** CPU seconds that the server and its database have used. */
type Usage = () => { readonly server: number; readonly database: number };

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 120);
  const rounds = Number(args[1] ?? 24);
  for (const engine of ["lowdb", "postgres"] as const) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      const usage = () => ({ server: server.usage().cpu, database: postgres?.cpu() ?? 0 });
      await withSecret(server);
      const { send, close } = throughUrl(server.url, CONNECTIONS);
      const bodies = await settledHosts(send, hosts);
      if (!args.includes("changed"))
        console.log(`${engine.padEnd(9)} ${await compareWithNone(send, usage, bodies, rounds)}`);
      console.log(`${engine.padEnd(9)} ${await compareWithChanged(send, usage, bodies, Math.ceil(rounds / 3))}`);
      close();
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

/** For each kind, what its hosts have reported last. */
async function settledHosts(send: Send, hosts: number): Promise<Record<Kind, Buffer[]>> {
  const bodies: Record<Kind, Buffer[]> = { full: [], empty: [], changed: [] };
  for (let index = 0; index < hosts; index++)
    for (const [number, kind] of kinds.entries()) {
      const agent = new SimulatedAgent(send, families[index % 3]!, index * kinds.length + number, ENTRIES);
      await agent.enroll(SECRET);
      bodies[kind].push(await settled(agent, kind !== "empty"));
    }
  return bodies;
}

async function post(send: Send, all: readonly Buffer[]): Promise<void> {
  const queue = [...all];
  const worker = async () => {
    for (let body = queue.pop(); body !== undefined; body = queue.pop()) {
      const { text } = await send(WRITE, body);
      if (text !== "{}") throw new Error(`a write was refused: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

const sizeOf = (all: readonly Buffer[]): string =>
  `${Math.round(all.reduce((sum, { length }) => sum + length, 0) / all.length / 1000)} KB`;

async function compareWithNone(
  send: Send,
  usage: Usage,
  bodies: Readonly<Record<Kind, readonly Buffer[]>>,
  rounds: number,
): Promise<string> {
  // Each is repeated several times, to reduce the effect of the clock's resolution of 10 ms.
  const cost = async (all: readonly Buffer[]) => {
    const before = usage().server;
    for (let i = 0; i < 4; i++) await post(send, all);
    return ((usage().server - before) * 1000) / (4 * all.length);
  };
  for (let i = 0; i < 3; i++) for (const kind of ["full", "empty"] as const) await post(send, bodies[kind]);
  const costs = { full: [] as number[], empty: [] as number[] };
  for (let round = 0; round < rounds; round++)
    for (const kind of round % 2 === 0 ? (["full", "empty"] as const) : (["empty", "full"] as const))
      costs[kind].push(await cost(bodies[kind]));
  const [full, empty] = [median(costs.full), median(costs.empty)];
  return (
    `${ENTRIES} entries unchanged (${sizeOf(bodies.full)}) ${full.toFixed(2)} ms CPU, none (${sizeOf(bodies.empty)}) ` +
    `${empty.toFixed(2)} ms: ${(full / empty).toFixed(2)} times`
  );
}

/** With the work that follows for the counts, and without what an idle server uses in the same time. */
async function compareWithChanged(
  send: Send,
  usage: Usage,
  { full, changed }: Readonly<Record<Kind, readonly Buffer[]>>,
  rounds: number,
): Promise<string> {
  const repeats = 8;
  const versions = [changed, changed.map(updated)];
  const posts = {
    idle: async () => {},
    full: () => post(send, full),
    // Each differs from what the host has reported before.
    changed: (i: number) => post(send, versions[(i + 1) % 2]!),
  };
  const costs = { idle: [] as Cost[], full: [] as Cost[], changed: [] as Cost[] };
  for (let i = 0; i < repeats; i++) for (const kind of ["full", "changed"] as const) await posts[kind](i);
  await pause(COUNTED_AFTER);
  for (let round = 0; round < rounds; round++)
    for (const kind of round % 2 === 0
      ? (["idle", "full", "changed"] as const)
      : (["changed", "full", "idle"] as const)) {
      const before = usage();
      for (let i = 0; i < repeats; i++) await posts[kind](i);
      await pause(COUNTED_AFTER);
      const after = usage();
      costs[kind].push({ server: after.server - before.server, database: after.database - before.database });
    }
  const perRequest = (kind: "full" | "changed", part: keyof Cost) =>
    ((median(costs[kind].map((cost) => cost[part])) - median(costs.idle.map((cost) => cost[part]))) * 1000) /
    (repeats * full.length);
  const text = (kind: "full" | "changed") =>
    `${perRequest(kind, "server").toFixed(2)} ms CPU and ${perRequest(kind, "database").toFixed(2)} ms of the database`;
  return (
    `${CHANGED} of ${ENTRIES} entries changed ${text("changed")}, unchanged ${text("full")}: ` +
    `${(perRequest("changed", "server") / perRequest("full", "server")).toFixed(2)} times`
  );
}

type Cost = ReturnType<Usage>;

/** The reply after some programs were updated. */
function updated(body: Buffer): Buffer {
  const answers = JSON.parse(body.toString()) as { queries: Record<string, Record<string, string>[]> };
  const lists = Object.entries(answers.queries).flatMap(([name, rows]) => (name.includes("software") ? [rows] : []));
  const largest = lists.reduce((most, rows) => (rows.length > most.length ? rows : most));
  for (let i = 0; i < CHANGED; i++) largest[Math.floor((i * largest.length) / CHANGED)]!.version += ".1";
  return Buffer.from(JSON.stringify(answers));
}

/** The host's reply to all queries, after the server has accepted it. */
async function settled(agent: SimulatedAgent, withSoftware: boolean): Promise<Buffer> {
  let largest: ReturnType<SimulatedAgent["answers"]> | null = null;
  for (let poll = 0; poll < 5; poll++) {
    const work = await agent.read();
    if (Object.keys(work.queries).length === 0) break;
    const answers = agent.answers(work);
    if (!withSoftware)
      for (const name of Object.keys(answers.queries)) if (name.includes("software")) answers.queries[name] = [];
    await agent.send(WRITE, answers);
    if (Object.keys(answers.queries).length > Object.keys(largest?.queries ?? {}).length) largest = answers;
  }
  if (largest === null) throw new Error("the host was not asked for its inventory");
  return Buffer.from(JSON.stringify(largest));
}
