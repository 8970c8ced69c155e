// Start times: `svc --version` compared with a bare node, and serve from start to ready, in time and CPU time: with an
// empty store, the same once its first admin exists, on both stores, and with 10,000 hosts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./support/figures.ts";
import { fillStore } from "./support/fill.ts";
import { makePlace } from "./support/place.ts";
import { type ServeOptions, startServe } from "./support/serve.ts";

export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 7);
  // Alternating, so that a slowdown of the machine affects both.
  const bare: number[] = [];
  const version: number[] = [];
  const help: number[] = [];
  for (let i = 0; i < rounds; i++) {
    bare.push(timeOf(["-e", "0"]));
    version.push(timeOf(["bin/run.js", "--version"]));
    help.push(timeOf(["bin/run.js", "hosts", "list", "--help"]));
  }
  const base = median(bare);
  console.log(`node -e 0               ${base.toFixed(0)} ms`);
  console.log(
    `svc --version           ${median(version).toFixed(0)} ms = ${(median(version) / base).toFixed(2)} x node -e 0`,
  );
  console.log(
    `svc hosts list --help   ${median(help).toFixed(0)} ms = ${(median(help) / base).toFixed(2)} x node -e 0`,
  );

  const empty: Start[] = [];
  for (let i = 0; i < 5; i++)
    await inFolder(async (dataDir) => {
      empty.push(await start({ dataDir }));
    });
  print("serve to ready, empty", empty);
  await inFolder(async (dataDir) => print("again, lowdb", await starts({ dataDir })));
  const place = await makePlace("postgres");
  try {
    const env = { SVC_DATABASE_URL: place.settings.database_url! };
    await inFolder(async (dataDir) => print("again, Postgres", await starts({ dataDir, env })));
  } finally {
    await place.remove();
  }
  await inFolder(async (dataDir) => {
    await fillStore(dataDir, 10_000);
    print("again, 10,000 hosts", await starts({ dataDir }));
  });
}

async function inFolder(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function timeOf(args: string[]): number {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  return performance.now() - started;
}

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

/** The first start, which makes the tables and the first admin, is not counted. */
async function starts(options: ServeOptions): Promise<Start[]> {
  await start(options);
  const measurements: Start[] = [];
  for (let i = 0; i < 5; i++) measurements.push(await start(options));
  return measurements;
}

async function start(options: ServeOptions): Promise<Start> {
  const started = performance.now();
  const server = await startServe(options);
  const ms = performance.now() - started;
  const cpuMs = server.usage().cpu * 1000;
  await server.stop();
  return { ms, cpuMs };
}

const print = (what: string, all: readonly Start[]): void =>
  console.log(
    `${what.padEnd(22)}  ${median(all.map(({ ms }) => ms)).toFixed(0)} ms, of CPU time ${median(all.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms`,
  );
