// The client as a process with a server in this process: `svc hosts list` of 50 hosts compared with a bare node, and
// the memory that long lists need. `npm run bench -- client [hosts] [rounds]`
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import { median } from "./support/figures.ts";
import { fillHosts } from "./support/many-hosts.ts";
import { adminOf, makePlace } from "./support/place.ts";
import { cleanEnv } from "./support/serve.ts";

const binary = fileURLToPath(new URL("../bin/run.js", import.meta.url));
const MiB = 1024 * 1024;

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 100_000);
  const rounds = Number(args[1] ?? 15);
  const place = await makePlace("lowdb");
  const server = await startServer(place.settings, pino({ level: "silent" }));
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const started = Date.now();
    await fillHosts(server.services, hosts, 0);
    console.log(`${hosts} hosts made in ${Date.now() - started} ms`);
    const admin = await adminOf(server, { connections: 1 });
    const env = {
      ...cleanEnv(),
      HOME: home,
      SVC_KEYRING: "off",
      SVC_API_TOKEN: admin.token,
      SVC_SERVER_URL: server.url,
    };
    await starts(rounds, env);
    await memory(hosts, env);
    await admin.close();
  } finally {
    await server.stop();
    await place.remove();
    rmSync(home, { recursive: true, force: true });
  }
}

async function starts(rounds: number, env: NodeJS.ProcessEnv): Promise<void> {
  const bare: Ran[] = [];
  const list: Ran[] = [];
  // Alternating, so that a slowdown of the machine affects both.
  for (let i = 0; i < rounds; i++) {
    bare.push(await ran(["-e", "0"], env));
    list.push(await ran([binary, "hosts", "list", "--limit", "50"], env));
  }
  for (const [what, of] of [
    ["wall", ({ ms }: Ran) => ms],
    ["CPU", ({ cpu }: Ran) => cpu],
  ] as const) {
    const [base, measured] = [bare.map(of), list.map(of)];
    const times = (a: number, b: number) => `${(b / a).toFixed(1)}x`;
    console.log(
      `svc hosts list, 50 hosts, ${what}: median ${median(measured).toFixed(0)} ms, ${times(median(base), median(measured))} node -e 0 ` +
        `(best ${Math.min(...measured).toFixed(0)} ms, ${times(Math.min(...base), Math.min(...measured))})`,
    );
  }
}

async function memory(hosts: number, env: NodeJS.ProcessEnv): Promise<void> {
  for (const format of ["ndjson", "csv", "json"]) {
    const peaks: number[] = [];
    for (const limit of [1_000, hosts]) {
      const { peak, ms, bytes } = await ran([binary, "hosts", "list", "--limit", String(limit), "-o", format], env);
      peaks.push(peak);
      console.log(
        `${format}, ${limit} hosts: ${(bytes / MiB).toFixed(0)} MiB in ${(ms / 1000).toFixed(1)} s, at most ${(peak / MiB).toFixed(0)} MiB resident`,
      );
    }
    console.log(`${format}: ${((peaks[1]! - peaks[0]!) / MiB).toFixed(0)} MiB more`);
  }
}

interface Ran {
  readonly ms: number;
  readonly cpu: number;
  /** Peak of resident memory in bytes, and number of bytes on stdout. */
  readonly peak: number;
  readonly bytes: number;
}

function ran(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    let used = { peak: 0, cpu: 0 };
    const look = () => {
      used = usageOf(child) ?? used;
    };
    const timer = setInterval(look, 5);
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    child.stdout.on("end", look);
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(timer);
      if (code !== 0) return reject(new Error(`${args.join(" ")} ended with ${code}`));
      resolve({ ms: performance.now() - started, bytes, ...used });
    });
  });
}

const TICK_MS = 10;

/** The process's peak memory and CPU time so far (Linux); null if it has exited. */
function usageOf({ pid }: ChildProcess): { peak: number; cpu: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (peak === undefined) return null;
    return { peak: Number(peak) * 1024, cpu: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  } catch {
    return null;
  }
}
