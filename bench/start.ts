// Start times: `svc --version` compared with a bare node, and serve from start to ready with an empty store and with
// 10,000 hosts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./support/figures.ts";
import { fillStore } from "./support/fill.ts";
import { startServe } from "./support/serve.ts";

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

  const empty: number[] = [];
  for (let i = 0; i < 5; i++) empty.push(await startTime(null));
  console.log(`serve to ready, empty   ${median(empty).toFixed(0)} ms`);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    await fillStore(dir, 10_000);
    const full: number[] = [];
    for (let i = 0; i < 3; i++) full.push(await startTime(dir));
    console.log(`serve to ready, 10,000  ${median(full).toFixed(0)} ms`);
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

async function startTime(dir: string | null): Promise<number> {
  const own = dir ?? mkdtempSync(join(tmpdir(), "svc-bench-"));
  const started = performance.now();
  const server = await startServe({ dataDir: own });
  const took = performance.now() - started;
  await server.stop();
  if (dir === null) rmSync(own, { recursive: true, force: true });
  return took;
}
