// A live query on hosts that are all online, one row each: the time from the call to the last row, in poll intervals
// of the agents.
// A host receives the query with its next poll, so no server can be faster than one interval (less the phase of the
// last to poll).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LiveResult, LiveStatus } from "../src/api/inventory/live-queries.ts";
import { readEvents } from "../src/client/events.ts";
import { Simulation } from "../src/simulator/simulation.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { enrollHosts, SECRET } from "./support/fill.ts";
import { type BenchServer, startServe } from "./support/serve.ts";

/** The interval in the recommended flags. */
const INTERVAL_S = 10;
const SOFTWARE = 20;

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 5_000);
  for (const engine of ["lowdb", "postgres"] as const) {
    if (args[1] !== undefined && args[1] !== engine) continue;
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const postgres = engine === "postgres" ? await startPostgres() : null;
    try {
      const server = await startServe({ dataDir: dir, env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {} });
      await measure(engine, server, hosts, join(dir, "agents.json"));
      await server.stop();
    } finally {
      await postgres?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}

async function measure(engine: string, server: BenchServer, hosts: number, identityFile: string): Promise<void> {
  await enrollHosts(server, hosts, { identityFile, software: SOFTWARE });
  const simulation = new Simulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts,
    softwarePerHost: SOFTWARE,
    spread: INTERVAL_S,
    identityFile,
    tls: { insecure: true },
  });
  simulation.start();
  const call = await caller(server);
  const label = (await call<{ labels: { id: number; name: string }[] }>("GET", "/labels/summary")).labels.find(
    ({ name }) => name === "All Hosts",
  )!;
  const selected = { labels: [label.id] };
  // Wait until all agents have started and poll at their intervals.
  await pause((INTERVAL_S + 5) * 1000);
  for (let i = 0; i < 60; i++) {
    const { targets_online } = await call<{ targets_online: number }>("POST", "/targets/count", { selected });
    if (targets_online === hosts) break;
    await pause(1000);
  }
  const usage = server.usage().cpu;
  const began = performance.now();
  const { live_query } = await call<{ live_query: { id: number; online_count: number } }>("POST", "/queries/live", {
    query: "SELECT version FROM osquery_info",
    selected,
  });
  const called = performance.now();
  const reply = await server.send(`/api/v1/svc/queries/live/${live_query.id}/stream`, { headers: call.headers });
  const seen = new Set<number>();
  let rows = 0;
  let lastRow = began;
  let status: LiveStatus | null = null;
  for await (const { event, data } of readEvents(reply.body as AsyncIterable<Uint8Array>)) {
    if (event === "result") {
      const result = JSON.parse(data) as LiveResult;
      seen.add(result.host.id);
      rows += result.rows.length;
      lastRow = performance.now();
    }
    if (event === "status") status = JSON.parse(data) as LiveStatus;
  }
  const ended = performance.now();
  const cpu = server.usage().cpu - usage;
  await simulation.stop();
  const seconds = (lastRow - began) / 1000;
  const { counts } = status!;
  console.log(
    `${engine.padEnd(9)} ${hosts} hosts, ${live_query.online_count} online: call ${((called - began) / 1000).toFixed(2)} s, last of ${rows} rows after ${seconds.toFixed(2)} s = ${(seconds / INTERVAL_S).toFixed(2)} x the poll interval, over after ${((ended - began) / 1000).toFixed(2)} s`,
  );
  console.log(
    `          ${seen.size} hosts heard; ${counts.answered} answered, ${counts.error} error, ${counts.offline} offline, ${counts.timed_out} timed out of ${counts.targets}; server CPU ${cpu.toFixed(1)} s, RSS ${Math.round(server.usage().rss / 1e6)} MB`,
  );
  const told = counts.answered + counts.error + counts.offline + counts.timed_out + counts.cancelled;
  if (told !== counts.targets || seen.size !== counts.answered + counts.error)
    throw new Error("not every target is accounted for");
}

type Call = (<T>(method: string, path: string, body?: unknown) => Promise<T>) & { headers: Record<string, string> };

/** `signIn` with access to the token for the stream. */
async function caller(server: BenchServer): Promise<Call> {
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  const login = await server.send("/api/v1/svc/login", {
    ...post,
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  const { token } = (await login.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await server.send(`/api/v1/svc${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as T;
  };
  return Object.assign(call, { headers });
}
