// A disk that becomes full with agents and API writers, and then has space again: reads continue, writes are refused,
// nothing is lost.
//   npm run test:soak -- disk-full --cycles 10 --hosts 100 --megabytes 48
// The disk is a tmpfs in its own mount namespace (Linux, unshare). If none can be created, or with --injected, injected
// faults in the server's file calls replace it, and the summary reports that.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SoakArgs } from "./main.ts";
import { told } from "./serve-kill.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";
import { Door } from "./support/door.ts";
import { endFleet, startFleet } from "./support/fleet.ts";
import { SECRET, Writers } from "./support/writers.ts";

/** R4: the time limit for everything to work again after there is space. */
const RECOVERED_MS = 10_000;
/** The time limit for noticing a full disk, by which some write has happened. */
const NOTICED_MS = 5_000;
const faults = fileURLToPath(new URL("./support/faults.mjs", import.meta.url));

export interface DiskFullOptions {
  readonly cycles: number;
  readonly hosts: number;
  /** A small file system for the server's data directory; without one, faults are injected. */
  readonly mount?: string;
}

interface Disk {
  fill(): void;
  free(): void;
}

export async function diskFull({ cycles, hosts, mount }: DiskFullOptions): Promise<string> {
  const flags = mkdtempSync(join(tmpdir(), "svc-disk-"));
  const fullFile = join(flags, "full");
  const injected = { NODE_ARGS: `--import ${faults}`, SVC_FAULTS_FULL_FILE: fullFile };
  const bed = await Bed.make({
    engine: "lowdb",
    // Small, so that the disk also becomes full during compactions.
    env: { SVC_SNAPSHOT_BYTES: "1000000", ...(mount === undefined ? injected : {}) },
    ...(mount === undefined ? {} : { dir: mount }),
  });
  const disk = mount === undefined ? flagged(fullFile) : ballast(join(mount, "ballast"));
  try {
    const server = await bed.start();
    const door = await Door.open(server);
    await door.caller()("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const fleet = await startFleet(bed, SECRET, { hosts, scale: 0.1, spread: 1, logLinesPerMinute: 30 });
    const writers = new Writers(door, { mayVanish: false });
    writers.start();
    let [slowest, refusals] = [0, 0];
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await pause(between(500, 1_500));
      disk.fill();
      await until("the server sees that its disk is full", NOTICED_MS, async () => (await door.health()) === 503);
      // The agents' log is another file on the same disk.
      await until("log lines are refused", NOTICED_MS, async () => (await logLine(door, server.url)) === "refused");
      const full = performance.now() + between(500, 2_000);
      do refusals += await probeFull(door);
      while (performance.now() < full);
      disk.free();
      const from = performance.now();
      await until("healthy again", RECOVERED_MS, async () => (await door.health()) === 200);
      const before = writers.acknowledged;
      await until("writes are taken again", RECOVERED_MS, () => writers.acknowledged > before);
      await until("log lines are taken again", RECOVERED_MS, async () => (await logLine(door, server.url)) === "taken");
      slowest = Math.max(slowest, Math.round(performance.now() - from));
      insist(bed.alive === server, "another server runs");
    }
    await writers.stop();
    const { lines } = await endFleet(bed, fleet);
    const kept = await writers.verify(door.caller(), hosts + 1);
    // Everything in memory must also be on the disk, as after a crash.
    await bed.alive.stop("SIGKILL");
    await bed.start();
    await writers.verify(door.caller(), hosts + 1);
    await bed.stop();
    await bed.dbCheck();
    return `${mount === undefined ? "ENOSPC injected" : "tmpfs"}: full ${cycles} times under ${hosts} agents, works again at most ${slowest} ms after there is room, ${refusals} answers checked, ${told(kept)} and ${lines} log lines acknowledged, 0 lost, 0 doubled, also after kill -9, db check sound`;
  } finally {
    await bed.dispose();
    rmSync(flags, { recursive: true, force: true });
  }
}

const flagged = (file: string): Disk => ({ fill: () => writeFileSync(file, ""), free: () => unlinkSync(file) });

const BLOCKS = [1 << 20, 1 << 16, 1 << 12];

/** A file that uses up all the space. */
const ballast = (file: string): Disk => ({
  fill() {
    const handle = openSync(file, "w");
    for (const size of BLOCKS) while (hasRoom(handle, Buffer.alloc(size)));
    closeSync(handle);
  },
  free: () => unlinkSync(file),
});

function hasRoom(handle: number, bytes: Buffer): boolean {
  try {
    return writeSync(handle, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}

let key: { readonly server: string; readonly nodeKey: string } | null = null;

/** A host of the test itself sends a log line. */
async function logLine(door: Door, server: string): Promise<"taken" | "refused"> {
  if (key?.server !== server) {
    const body = { enroll_secret: SECRET, host_identifier: "logger-host", platform_type: "9" };
    const answer = await door.agent("enroll", body);
    // The disk is full before the host is known, so its enrollment is refused too.
    if (typeof answer?.json.node_key !== "string") return "refused";
    key = { server, nodeKey: answer.json.node_key };
  }
  const data = [{ name: "x", action: "added", columns: { filler: "x".repeat(5_000) } }];
  const answer = await door.agent("log", { node_key: key.nodeKey, log_type: "result", data });
  insist(answer !== null, "log: no answer");
  if (answer.status === 200 && !("error" in answer.json)) return "taken";
  const isClear = typeof answer.json.error === "string" && !("node_invalid" in answer.json);
  insist([413, 503].includes(answer.status) && isClear, () => `log: ${answer.status} ${JSON.stringify(answer.json)}`);
  return "refused";
}

/** Checks replies while the disk is full. Returns their number. */
async function probeFull(door: Door): Promise<number> {
  const reads = ["/hosts?per_page=5", "/hosts/count", "/teams", "/users", "/activities?per_page=5", "/config", "/me"];
  for (const path of reads) {
    const answer = await door.call("GET", path);
    insist(answer?.status === 200, () => `GET ${path}: ${JSON.stringify(answer)}`);
  }
  const secrets = [{ secret: SECRET }, { secret: "while the disk is full" }];
  const writes = [
    await door.call("POST", "/teams", { name: "while the disk is full" }),
    await door.call("POST", "/spec/enroll_secret", { spec: { secrets } }),
    await door.call("PATCH", "/config", { org_info: { org_name: `full ${Math.random()}` } }),
  ];
  for (const answer of writes) {
    insist(answer?.status === 503, () => `a write: ${JSON.stringify(answer)}`);
    insist(Array.isArray(answer.json.errors), () => `a write: not clear: ${JSON.stringify(answer.json)}`);
  }
  insist((await door.health()) === 503, "healthy while nothing can be written");
  const metrics = await door.text("/metrics");
  insist(metrics.includes("svc_store_stat"), "no metrics while the disk is full");
  await pause(20);
  return reads.length + writes.length + 2;
}

export async function run(args: SoakArgs): Promise<string> {
  const options = { cycles: numberOf(args, "cycles", 10), hosts: numberOf(args, "hosts", 100) };
  if (args.mount !== undefined) return diskFull({ ...options, mount: args.mount });
  await build();
  const megabytes = numberOf(args, "megabytes", 48);
  if (args.injected !== undefined) return diskFull(options);
  if (spawnSync("unshare", ["-Urm", "sh", "-c", "mount -t tmpfs none /tmp"]).status === 0)
    return inNamespace(options, megabytes);
  return `no tmpfs can be mounted here, so faults were injected instead; ${await diskFull(options)}`;
}

/** Runs this test again in a mount namespace that ends with it, so that nothing stays mounted however it ends. */
async function inNamespace({ cycles, hosts }: DiskFullOptions, megabytes: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "svc-disk-"));
  const again = `mount -t tmpfs -o size=${megabytes}m none "$0" && exec "$@"`;
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const words = ["disk-full", "--cycles", cycles, "--hosts", hosts, "--mount", dir].map(String);
  const child = spawn(
    "unshare",
    ["-Urm", "sh", "-c", again, dir, process.execPath, ...process.execArgv, main, ...words],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  const code = await new Promise((resolve) => child.once("close", resolve));
  rmSync(dir, { recursive: true, force: true });
  insist(code === 0, text);
  return text.replace(/^ok +disk-full \(\d+ s\): /m, "").trim();
}
