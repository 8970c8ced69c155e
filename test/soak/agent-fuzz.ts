// `npm run test:soak -- agent-fuzz [--messages 100000] [--seed N] [--store lowdb|postgres]`: altered messages of agents
// with a valid key, over sockets. The server keeps running, serves other hosts, and never replies with a 5xx except a
// deliberate 503.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { startServer } from "../../src/server/main.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { makeSecret, throughUrl } from "../edge/agent/agents.ts";
import { type AgentFuzzReport, fuzzAgents } from "../support/agent-fuzz.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";

export async function run(args: SoakArgs): Promise<string> {
  const messages = Number(args.messages ?? 100_000);
  const seed = Number(args.seed ?? Date.now() % 2 ** 31);
  const stores = args.store === undefined ? ["lowdb", "postgres"] : [args.store];
  const rejections: unknown[] = [];
  const reject = (reason: unknown) => void rejections.push(reason);
  process.on("unhandledRejection", reject);
  process.on("uncaughtException", reject);
  try {
    const told: string[] = [];
    for (const store of stores) {
      const share = Math.ceil(messages / stores.length);
      const { faults, byStatus } = await fuzzServer(store, share, seed);
      if (faults.length > 0) throw new Error(`${store}, seed ${seed}: ${faults.length} faults\n${faults.join("\n")}`);
      if (rejections.length > 0) throw new Error(`${store}: unhandled error`, { cause: rejections[0] });
      told.push(`${share} on ${store} ${JSON.stringify(byStatus)}`);
    }
    return `seed ${seed}: ${told.join("; ")}`;
  } finally {
    process.off("unhandledRejection", reject);
    process.off("uncaughtException", reject);
  }
}

async function fuzzServer(store: string, messages: number, seed: number): Promise<AgentFuzzReport> {
  const dir = await mkdtemp(join(tmpdir(), "svc-fuzz-"));
  const database = store === "postgres" ? await startPostgres() : null;
  const settings = Settings.parse({
    data_dir: dir,
    port: 0,
    ...(database ? { database_url: database.url() } : {}),
  });
  const server = await startServer(settings, pino({ level: "silent" }));
  const { send, close } = throughUrl(server.url, 16);
  try {
    await makeSecret(server.services);
    const look = async () => {
      const { status } = await send("/healthz", "", {}, "GET");
      if (status !== 200) throw new Error(`/healthz answers ${status}`);
    };
    return await fuzzAgents({ send, messages, seed, together: 16, look });
  } finally {
    close();
    await server.stop();
    await database?.destroy();
    await rm(dir, { recursive: true, force: true });
  }
}
