// The cost for the server of an hourly inventory with 300 unchanged software entries, compared with the same reply
// without any: server CPU time per request over HTTP, in alternating rounds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimulatedAgent, throughUrl } from "../test/agent/agents.ts";
import { SECRET, withSecret } from "../test/e2e/support/agents.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { median } from "./support/figures.ts";
import { type Served, startServe } from "./support/serve.ts";

const ENTRIES = 300;
const CONNECTIONS = 8;
const families = ["linux", "darwin", "windows"] as const;
const WRITE = "/api/v1/qengine/distributed/write";

interface Bodies {
  readonly full: Buffer[];
  readonly empty: Buffer[];
}

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 120);
  const rounds = Number(args[1] ?? 24);
  for (const engine of ["lowdb", "postgres"] as const) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      console.log(`${engine.padEnd(9)} ${await measure(server, hosts, rounds)}`);
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(server: Served, hosts: number, rounds: number): Promise<string> {
  await withSecret(server);
  const { send, close } = throughUrl(server.url, CONNECTIONS);
  const bodies: Bodies = { full: [], empty: [] };
  for (let index = 0; index < hosts; index++)
    for (const kind of ["full", "empty"] as const) {
      const agent = new SimulatedAgent(send, families[index % 3]!, index * 2 + Number(kind === "empty"), ENTRIES);
      await agent.enroll(SECRET);
      bodies[kind].push(await settled(agent, kind === "full"));
    }

  const post = async (all: readonly Buffer[]) => {
    const queue = [...all];
    const worker = async () => {
      for (let body = queue.pop(); body !== undefined; body = queue.pop()) {
        const { text } = await send(WRITE, body);
        if (text !== "{}") throw new Error(`a write was refused: ${text}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  };
  // Each is repeated several times, to reduce the effect of the clock's resolution of 10 ms.
  const cost = async (all: readonly Buffer[]) => {
    const before = server.usage().cpu;
    for (let i = 0; i < 4; i++) await post(all);
    return ((server.usage().cpu - before) * 1000) / (4 * all.length);
  };
  for (let i = 0; i < 3; i++) for (const kind of ["full", "empty"] as const) await post(bodies[kind]);
  const costs = { full: [] as number[], empty: [] as number[] };
  for (let round = 0; round < rounds; round++)
    for (const kind of round % 2 === 0 ? (["full", "empty"] as const) : (["empty", "full"] as const))
      costs[kind].push(await cost(bodies[kind]));
  close();
  const [full, empty] = [median(costs.full), median(costs.empty)];
  const size = (all: readonly Buffer[]) =>
    Math.round(all.reduce((sum, { length }) => sum + length, 0) / all.length / 1000);
  return (
    `${ENTRIES} entries unchanged (${size(bodies.full)} KB) ${full.toFixed(2)} ms CPU, none (${size(bodies.empty)} KB) ${empty.toFixed(2)} ms: ` +
    `${(full / empty).toFixed(2)} times`
  );
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
