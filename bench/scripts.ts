// A saved script on all managed hosts by one batch, on both stores: the time from the request to the last result, and
// the growth of the server's memory with a small and with a large script. Simulated agents poll every 10 s.
// `npm run bench -- scripts [HOSTS] [lowdb|postgres]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { UploadSource } from "../src/api/bodies.ts";
import { scriptBatchesApi } from "../src/api/delivery/script-batches.ts";
import { scriptsApi } from "../src/api/delivery/scripts.ts";
import { ApiClient } from "../src/client/client.ts";
import { throughUrl } from "../test/edge/agent/agents.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { quantile } from "./support/figures.ts";
import { type AgentCall, agentCalls, enrollManaged, type ManagedHost, mustCall } from "./support/managed-agents.ts";
import { watchMemory } from "./support/memory.ts";
import { type BenchServer, signIn, startServe, tokenOf } from "./support/serve.ts";

const POLL_MS = 10_000;
const TICK_MS = 10;
const CONNECTIONS = 64;
/** A batch counts as stuck after this time. */
const LIMIT_MS = 10 * 60_000;
const LARGE = 100_000;

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const hosts = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 10_000);
  for (const engine of ["lowdb", "postgres"] as const) {
    if (only !== undefined && only !== engine) continue;
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({
        dataDir: dir,
        args: ["--dev-license"],
        env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {},
      });
      await measure(engine, server, hosts);
      await server.stop();
    } finally {
      await postgres?.destroy();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(engine: string, server: BenchServer, count: number): Promise<void> {
  const { send, close } = throughUrl(server.url, CONNECTIONS);
  const call = agentCalls(send);
  const hosts = await enrollManaged(call, await signIn(server), count);
  const fleet = new Fleet(call, hosts);
  const client = new ApiClient({ serverUrl: server.url, token: await tokenOf(server) });
  const polling = fleet.poll();
  // All hosts poll once without work, so that what the server loads for that does not count as growth.
  await pause(POLL_MS);
  // The small one first, to compare with.
  for (const size of [100, LARGE]) {
    const line = await runBatch(server, client, fleet, size);
    console.log(`${engine.padEnd(9)} ${count} hosts, ${line}`);
    await pause(POLL_MS);
  }
  fleet.stop();
  await polling;
  close();
}

async function runBatch(server: BenchServer, client: ApiClient, fleet: Fleet, size: number): Promise<string> {
  const text = Buffer.from("#!/bin/sh\necho done\n".padEnd(size, `# ${size} ${performance.now()}\n`));
  const script: UploadSource = {
    name: `script-${Math.round(performance.now())}.sh`,
    size: text.length,
    canRepeat: true,
    open: async function* (start = 0) {
      yield text.subarray(start);
    },
  };
  const { script_id } = await client.call(scriptsApi.create, { body: { script } });
  const watch = watchMemory(server);
  const { cpu } = server.usage();
  fleet.begin(text.length);
  const from = performance.now();
  const host_ids = fleet.hosts.map(({ id }) => id);
  const params = await client.call(scriptBatchesApi.create, { body: { script_id, host_ids } });
  const created = performance.now() - from;
  while (fleet.results < host_ids.length) {
    if (performance.now() - from > LIMIT_MS) throw new Error(`only ${fleet.results} results`);
    await pause(TICK_MS);
  }
  const took = fleet.lastResult - from;
  const used = server.usage().cpu - cpu;
  const peak = watch.stop();
  const batch = await client.call(scriptBatchesApi.get, { params });
  if (batch.ran_host_count !== host_ids.length) throw new Error(`${batch.ran_host_count} hosts are counted`);
  return (
    `script of ${text.length} bytes: accepted after ${(created / 1000).toFixed(1)} s, last result after ` +
    `${(took / 1000).toFixed(1)} s; server CPU ${((used / host_ids.length) * 1000).toFixed(2)} ms a host, memory at most ` +
    `${(peak / 1e6).toFixed(0)} MB more (RSS ${(watch.before / 1e6).toFixed(0)} MB before); polls p95 ` +
    `${quantile(fleet.pollTimes, 0.95).toFixed(0)} ms, late by at most ${(fleet.latest / 1000).toFixed(1)} s`
  );
}

/** Agents that poll at equal distances, run each script once, and report its result at once. */
class Fleet {
  readonly hosts: readonly ManagedHost[];
  readonly #call: AgentCall;
  #isStopped = false;
  #size = 0;
  results = 0;
  lastResult = 0;
  /** Milliseconds of each poll since `begin`. */
  pollTimes: number[] = [];
  /** By how many milliseconds polls have begun late at most, because this process or the server is slow. */
  latest = 0;

  constructor(call: AgentCall, hosts: readonly ManagedHost[]) {
    this.#call = call;
    this.hosts = hosts;
  }

  /** Counts from now on; scripts must have this size in bytes. */
  begin(size: number): void {
    this.#size = size;
    this.results = 0;
    this.pollTimes = [];
    this.latest = 0;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async poll(): Promise<void> {
    const started = performance.now();
    const open = new Set<Promise<void>>();
    let failure: { readonly error: unknown } | null = null;
    const waiting = new Set<ManagedHost>();
    for (let number = 0; !this.#isStopped; await pause(TICK_MS)) {
      if (failure !== null) throw (failure as { readonly error: unknown }).error;
      const due = ((performance.now() - started) / POLL_MS) * this.hosts.length;
      for (; number < due; number++) {
        const host = this.hosts[number % this.hosts.length]!;
        // The host is still at its last poll.
        if (waiting.has(host)) continue;
        waiting.add(host);
        const turn = this.#turn(host, started + (number / this.hosts.length) * POLL_MS)
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => {
            waiting.delete(host);
            open.delete(turn);
          });
        open.add(turn);
      }
    }
    await Promise.all(open);
  }

  async #turn({ key }: ManagedHost, due: number): Promise<void> {
    const from = performance.now();
    this.latest = Math.max(this.latest, from - due);
    const of = { agent_node_key: key };
    const { notifications } = await mustCall(this.#call, "/config", of);
    this.pollTimes.push(performance.now() - from);
    for (const execution_id of notifications.pending_script_execution_ids ?? []) {
      const { script_contents } = await mustCall(this.#call, "/scripts/request", { ...of, execution_id });
      if (script_contents.length !== this.#size) throw new Error("a host has got another script");
      await mustCall(this.#call, "/scripts/result", { ...of, execution_id, output: "done", runtime: 0, exit_code: 0 });
      this.results++;
      this.lastResult = performance.now();
    }
  }
}
