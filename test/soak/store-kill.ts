// kill -9 under load: `--cycles` kills (200) of a process with 32 writers, `--engine lowdb|postgres|both`.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";
import { openKillStore } from "./store-kill-child.ts";

const CHILD = fileURLToPath(new URL("./store-kill-child.ts", import.meta.url));

/** Lets a child write for a moment, kills it, and returns the keys that it had acknowledged. */
async function killOnce(place: string, cycle: number, isMutant: boolean): Promise<string[]> {
  const args = ["--import", "tsx", CHILD, place, String(cycle), ...(isMutant ? ["mutant"] : [])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  let isKilled = false;
  // After some acknowledgements and a random delay, because starting takes long on a busy machine.
  const killAfter = 1 + Math.floor(Math.random() * 300);
  let lines = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    lines += text.split("\n").length - 1;
    if (lines <= killAfter || isKilled) return;
    isKilled = true;
    setTimeout(() => child.kill("SIGKILL"), Math.random() * 20);
  });
  await new Promise((resolve) => child.on("close", resolve));
  if (!isKilled) throw new Error(`the child of cycle ${cycle} ended by itself`);
  // The last line may be incomplete, so it does not count.
  return output
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "ready");
}

async function cycles(place: string, count: number, isMutant = false): Promise<{ acknowledged: number; lost: number }> {
  let acknowledged = 0;
  let lost = 0;
  for (let cycle = 1; cycle <= count; cycle++) {
    const keys = await killOnce(place, cycle, isMutant);
    const store = await openKillStore(place);
    const rows = await store.entries.pick(["key"]);
    const found = new Set(rows.map(({ key }) => key));
    for (const key of keys) if (!found.has(key)) lost++;
    for (const { writer, count: last } of await store.counters.list())
      if (found.has(`${cycle}-${writer}-${last + 1}`))
        throw new Error(`half a transaction of writer ${writer} was kept`);
    acknowledged += keys.length;
    // Each cycle starts with its own rows, so that the check stays fast.
    await store.tx(async (tx) => {
      await tx.entries.delete({ op: "all" });
      await tx.counters.delete({ op: "all" });
    });
    await store.close();
    if (isMutant && lost > 0) break;
  }
  return { acknowledged, lost };
}

async function onLowdb(count: number): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "svc-kill-"));
  try {
    const { acknowledged, lost } = await cycles(dir, count);
    if (lost > 0) throw new Error(`lowdb lost ${lost} of ${acknowledged} acknowledged writes`);
    const mutant = await cycles(join(dir, "mutant"), 10, true);
    if (mutant.lost === 0) throw new Error("the mutant that acknowledges first was not caught");
    return `lowdb: ${count} kills, ${acknowledged} acknowledged, 0 lost, mutant caught`;
  } finally {
    await rm(dir, { recursive: true });
  }
}

async function onPostgres(count: number): Promise<string> {
  const server = await startPostgres({ fsync: true });
  try {
    const { acknowledged, lost } = await cycles(await server.createDatabase("kill"), count);
    if (lost > 0) throw new Error(`postgres lost ${lost} of ${acknowledged} acknowledged writes`);
    return `postgres: ${count} kills, ${acknowledged} acknowledged, 0 lost`;
  } finally {
    await server.destroy();
  }
}

export async function run(args: SoakArgs): Promise<string> {
  const { engine = "both" } = args;
  const count = Number(args.cycles ?? 200);
  const results: string[] = [];
  if (engine !== "postgres") results.push(await onLowdb(count));
  if (engine !== "lowdb") results.push(await onPostgres(count));
  return results.join("; ");
}
