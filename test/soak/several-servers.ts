// Three servers on one Postgres behind a proxy that sends each request of an agent to a different server, compared with
// one server that gets the same requests: all figures must be equal at the end.
//   npm run test:soak -- several-servers --hosts 60 --rounds 6
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchServer, startServe } from "../../bench/support/serve.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";
import { scenario } from "./several/scenario.ts";
import { build } from "./support/bed.ts";
import { insist, numberOf } from "./support/check.ts";
import { roundRobin } from "./support/round-robin.ts";

export interface SeveralOptions {
  readonly hosts: number;
  /** How often policies, labels and queries change while every host checks in. */
  readonly rounds: number;
  /** Creates an empty database. */
  readonly database: () => Promise<{ url: string; end(): Promise<unknown> }>;
  readonly onSpawn?: Parameters<typeof startServe>[0]["onSpawn"];
}

export async function severalServers(options: SeveralOptions): Promise<string> {
  const alone = await figuresOf(1, options);
  const several = await figuresOf(3, options);
  const names = [...new Set([...Object.keys(alone.figures), ...Object.keys(several.figures)])];
  const textOf = (figures: Record<string, unknown>, name: string) => JSON.stringify(figures[name]);
  const differing = names.filter((name) => textOf(alone.figures, name) !== textOf(several.figures, name));
  insist(differing.length === 0, () =>
    differing
      .map((name) => `${name}: ${textOf(several.figures, name)} instead of ${textOf(alone.figures, name)}`)
      .join("\n"),
  );
  const calls = several.counts.reduce((sum, count) => sum + count, 0);
  insist(Math.min(...several.counts) > calls / 4, `the servers did not take turns: ${several.counts}`);
  const { hosts, rounds } = options;
  return `${hosts} hosts, ${rounds} rounds, ${several.counts.join(" + ")} calls: ${names.length} figures, 0 differences`;
}

interface Findings {
  readonly figures: Record<string, unknown>;
  readonly counts: readonly number[];
}

async function figuresOf(count: number, options: SeveralOptions): Promise<Findings> {
  const database = await options.database();
  // Carves are stored in one shared folder, as servers behind a load balancer need it.
  const dataDir = mkdtempSync(join(tmpdir(), "svc-several-"));
  const env = {
    SVC_DATABASE_URL: database.url,
    SVC_SERVER_PRIVATE_KEY: randomBytes(32).toString("base64"),
    SVC_MAX_JITTER_PERCENT: "0",
    // The proxy forwards the addresses that callers claim, because limits are per address.
    SVC_TRUSTED_PROXIES: "127.0.0.0/8",
  };
  const start = () =>
    startServe({
      dataDir,
      args: ["--dev-license"],
      env,
      ...(options.onSpawn === undefined ? {} : { onSpawn: options.onSpawn }),
    });
  const servers: BenchServer[] = [];
  try {
    // The first server creates the tables and the first administrator.
    servers.push(await start());
    servers.push(...(await Promise.all(Array.from({ length: count - 1 }, start))));
    const proxy = await roundRobin(servers.map(({ url }) => url));
    try {
      const send = ((path, init) => fetch(`${proxy.url}${path}`, init as RequestInit)) as BenchServer["send"];
      return { figures: await scenario({ ...servers[0]!, url: proxy.url, send }, options), counts: proxy.counts };
    } finally {
      await proxy.close();
    }
  } catch (error) {
    const logs = servers.map((server) => server.log().slice(-2_000)).join("\n");
    throw new Error(`with ${count} ${count === 1 ? "server" : "servers"}: ${logs}`, { cause: error });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await database.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function ownPostgres() {
  const postgres = await startPostgres();
  return { url: postgres.url(), end: () => postgres.destroy() };
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const [hosts, rounds] = [numberOf(args, "hosts", 60), numberOf(args, "rounds", 6)];
  return severalServers({ hosts, rounds, database: ownPostgres });
}
