// The agent on one machine (Linux, root): how long until its whole inventory is there, and what it needs at rest.
// `npm run bench -- agent [MINUTES [PACKAGES]]`
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { countingDoor, dpkgList, isRoot, startRealAgent, usageOf } from "./support/real-agent.ts";
import { type Caller, signIn, startServe } from "./support/serve.ts";

const SECRET = "bench-enroll-secret";
const LIMIT_S = 120;
const MB = 1024 * 1024;

interface HostOf {
  readonly id: number;
  readonly label_updated_at: string | null;
  readonly scripts_enabled: boolean | null;
}

/** Seconds until the host has its details, labels and all of its packages. */
async function untilComplete(call: Caller, uuid: string, packages: number): Promise<number> {
  const began = performance.now();
  for (; performance.now() - began < LIMIT_S * 1000; await pause(50)) {
    const seen = await call<{ host: HostOf }>("GET", `/hosts/identifier/${uuid}`).catch(() => null);
    if (seen?.host.scripts_enabled !== true) continue;
    const { count } = await call<{ count: number }>("GET", `/hosts/${seen.host.id}/software?per_page=1`);
    if (count >= packages && seen.host.label_updated_at !== null) return (performance.now() - began) / 1000;
  }
  throw new Error(`the inventory was not complete after ${LIMIT_S} s`);
}

export async function run([minutes = "10", packages = "2000"]: readonly string[]): Promise<void> {
  if (!isRoot()) throw new Error("needs root on Linux: the agent gets a list of packages of its own");
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const agents: ChildProcess[] = [];
  try {
    const server = await startServe({ dataDir: join(folder, "data"), args: ["--tls-self-signed"] });
    const call = await signIn(server);
    await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const dpkgStatus = join(folder, "status");
    writeFileSync(dpkgStatus, dpkgList(Number(packages)));
    const door = await countingDoor(Number(new URL(server.url).port));
    const start = (name: string): string => {
      const uuid = randomUUID().toUpperCase();
      const common = {
        serverUrl: `https://127.0.0.1:${door.port}`,
        ca: join(folder, "data/tls/cert.pem"),
        secret: SECRET,
      };
      agents.push(startRealAgent({ ...common, folder: join(folder, name), uuid, dpkgStatus }));
      return uuid;
    };
    const seconds: number[] = [];
    for (const name of ["first", "second", "third"]) {
      seconds.push(await untilComplete(call, start(name), Number(packages)));
      if (name !== "third") agents.at(-1)!.kill("SIGTERM");
    }
    const best = seconds.map((duration) => duration.toFixed(1)).join(", ");
    console.log(`from the start to the whole inventory with ${packages} packages: ${best} s (limit 10, goal 3)`);

    const { pid } = agents.at(-1)!;
    await pause(60_000);
    const [before, bytes] = [usageOf(pid!), door.bytes()];
    await pause(Number(minutes) * 60_000);
    const after = usageOf(pid!);
    const perHour = 60 / Number(minutes);
    const cpu = ((after.cpu - before.cpu) / (Number(minutes) * 60)) * 100;
    console.log(`at rest for ${minutes} minutes, after a minute:`);
    console.log(`  memory ${(after.rss / MB).toFixed(0)} MB resident, ${(after.pss / MB).toFixed(0)} MB proportional`);
    console.log(`  CPU ${cpu.toFixed(2)} % of a core (limit 0.5, goal 0.1)`);
    console.log(`  traffic ${(((door.bytes() - bytes) * perHour) / 1e6).toFixed(2)} MB an hour (limit 1, goal 0.3)`);
    door.server.close();
    await server.stop();
  } finally {
    for (const agent of agents) agent.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
