// Many agents as processes, each with its own state folder and, for root on Linux, its own hostname in a namespace: all
// are online, and all answer a live query. `npm run bench -- agents [AGENTS]`
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LiveResult } from "../src/api/inventory/live-queries.ts";
import { readEvents } from "../src/client/events.ts";
import { isRoot, startRealAgent, usageOf } from "./support/real-agent.ts";
import { signIn, startServe, tokenOf } from "./support/serve.ts";

const SECRET = "bench-enroll-secret";
/** The interval of the agent, and of the recommended flags. */
const INTERVAL_S = 10;
/** Several at once, so that their start does not take all of the processor. */
const MAX_CONCURRENT_STARTS = 4;
const START_LIMIT_S = 900;

export async function run([count = "200"]: readonly string[]): Promise<void> {
  const agentCount = Number(count);
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const agents: ChildProcess[] = [];
  try {
    const dataDir = join(folder, "data");
    const server = await startServe({ dataDir, args: ["--tls-self-signed"] });
    const call = await signIn(server);
    await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const online = async () => (await call<{ count: number }>("GET", "/hosts/count?status=online")).count;
    const until = async (hosts: number) => {
      for (const end = Date.now() + START_LIMIT_S * 1000; (await online()) < hosts; await pause(500))
        if (Date.now() > end) throw new Error(`only ${await online()} of ${hosts} agents were online in time`);
    };

    const began = performance.now();
    for (let i = 0; i < agentCount; i++) {
      const uuid = `0A0A0A0A-0000-4000-8000-${String(i).padStart(12, "0")}`;
      const common = { serverUrl: server.url, ca: join(dataDir, "tls", "cert.pem"), secret: SECRET, uuid };
      const name = isRoot() ? { hostname: `agent-${i}` } : {};
      agents.push(startRealAgent({ ...common, ...name, folder: join(folder, String(i)) }));
      if (i % MAX_CONCURRENT_STARTS === 0) await until(i + 1 - MAX_CONCURRENT_STARTS);
    }
    await until(agentCount);
    console.log(`${agentCount} agents started and online after ${((performance.now() - began) / 1000).toFixed(0)} s`);
    // The first inventory is over.
    await pause(2 * INTERVAL_S * 1000);
    const memory = agents.map(({ pid }) => usageOf(pid!));
    const sum = (of: (usage: { rss: number; pss: number }) => number) =>
      (memory.reduce((total, usage) => total + of(usage), 0) / agentCount / 1024 / 1024).toFixed(0);
    console.log(`memory of each: ${sum(({ rss }) => rss)} MB resident, ${sum(({ pss }) => pss)} MB proportional`);

    const label = (await call<{ labels: { id: number; name: string }[] }>("GET", "/labels/summary")).labels.find(
      ({ name }) => name === "All Hosts",
    )!;
    const authorization = `Bearer ${await tokenOf(server)}`;
    for (let round = 1; round <= 3; round++) {
      const startedAt = performance.now();
      const { live_query } = await call<{ live_query: { id: number } }>("POST", "/queries/live", {
        query: "SELECT hostname, uuid FROM system_info",
        selected: { labels: [label.id] },
      });
      const path = `/api/v1/svc/queries/live/${live_query.id}/stream`;
      const reply = await server.send(path, { headers: { authorization } });
      const answers = new Map<number, string>();
      let last = startedAt;
      for await (const { event, data } of readEvents(reply.body as AsyncIterable<Uint8Array>)) {
        if (event !== "result") continue;
        const { host, rows } = JSON.parse(data) as LiveResult;
        answers.set(host.id, String(rows[0]?.uuid));
        last = performance.now();
        if (answers.size === agentCount) break;
      }
      const seconds = (last - startedAt) / 1000;
      const machines = new Set(answers.values()).size;
      console.log(
        `live query ${round}: ${machines} machines answered of ${agentCount}, after ${seconds.toFixed(1)} s = ` +
          `${(seconds / INTERVAL_S).toFixed(2)} poll intervals (goal 1.2), ${await online()} online`,
      );
      if (machines < agentCount) throw new Error("not all agents have answered");
    }
    for (const agent of agents) agent.kill("SIGTERM");
    await server.stop();
  } finally {
    for (const agent of agents) agent.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
