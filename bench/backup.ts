// A backup of a store with 10,000 hosts and their software, restored into an empty store of each engine: duration,
// and whether the data is equal.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../test/support/postgres-server.ts";
import { fillStore } from "./support/fill.ts";
import { cleanEnv } from "./support/serve.ts";

const binary = fileURLToPath(new URL("../bin/run.js", import.meta.url));

export async function run(args: readonly string[]): Promise<void> {
  const hosts = Number(args[0] ?? 10_000);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const postgres = await startPostgres();
  try {
    const from = join(dir, "from");
    await fillStore(from, hosts);
    const key = readFileSync(join(from, "server.key"), "utf8").trim();
    const svc = (...words: string[]) => timed(words, { SVC_SERVER_PRIVATE_KEY: key });
    const file = join(dir, "backup.gz");
    const backup = svc("db", "backup", file, "--data-dir", from);
    console.log(`${hosts} hosts: backup ${backup.seconds} s, ${Math.round(statSync(file).size / 1e6)} MB`);
    const state = svc("db", "check", "--json", "--data-dir", from).output;
    const targets = { lowdb: ["--data-dir", join(dir, "to")], postgres: ["--database-url", postgres.url()] };
    for (const [engine, place] of Object.entries(targets)) {
      const restored = svc("db", "restore", file, ...place);
      const same = svc("db", "check", "--json", ...place).output === state;
      console.log(`restore to ${engine} ${restored.seconds} s, ${same ? "identical by checksums" : "DIFFERENT"}`);
      if (!same) throw new Error(`what was restored to ${engine} is not what was backed up`);
    }
  } finally {
    await postgres.destroy();
    rmSync(dir, { recursive: true, force: true });
  }
}

function timed(words: readonly string[], env: Record<string, string>): { output: string; seconds: string } {
  const started = performance.now();
  const output = execFileSync(process.execPath, [binary, ...words], {
    env: { ...cleanEnv(), ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1e8,
  });
  return { output, seconds: ((performance.now() - started) / 1000).toFixed(1) };
}
