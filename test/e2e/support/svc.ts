// The built binary: commands that run to their end, and servers as child processes that end with the test file.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchServer, cleanEnv, type ServeOptions, startServe } from "../../../bench/support/serve.ts";
import { afterEveryFile } from "../../support/ends.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const binary = join(root, "bin", "run.js");
/** A build takes no longer than this; an older lock is a leftover. */
const LOCK_STALE_MS = 180_000;

let built: Promise<void> | undefined;
/** Builds dist/ if it is outdated, once per process. */
export const build = (): Promise<void> => (built ??= bringUpToDate());

/** One build at a time, because the files of this folder may run in parallel. */
async function bringUpToDate(): Promise<void> {
  const lock = join(root, "tmp", "e2e-build.lock");
  mkdirSync(join(root, "tmp"), { recursive: true });
  while (!take(lock)) await new Promise((done) => setTimeout(done, 100));
  try {
    await new Promise<void>((resolve, reject) => {
      execFile(process.execPath, [join(root, "scripts", "build.mjs")], (error, stdout, stderr) =>
        error ? reject(new Error(`the build failed:\n${stdout}${stderr}`)) : resolve(),
      );
    });
  } finally {
    rmdirSync(lock);
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const since = existsSync(lock) ? statSync(lock, { throwIfNoEntry: false })?.mtimeMs : undefined;
    if (since !== undefined && Date.now() - since > LOCK_STALE_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

const folders: string[] = [];
const running = new Set<ChildProcess>();
const abandon = () => {
  for (const child of running) child.kill("SIGKILL");
};
process.once("exit", abandon);
afterEveryFile(() => {
  abandon();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An empty folder, removed after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-e2e-"));
  folders.push(folder);
  return folder;
}

export function watch(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

export const serve = (options: Partial<ServeOptions> = {}): Promise<BenchServer> =>
  startServe({ ...options, dataDir: options.dataDir ?? newFolder(), onSpawn: watch });

export interface EndedProcess {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** Runs a command line as a shell would, to its end. */
export function svc(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<EndedProcess> {
  const started = Date.now();
  const child = spawn(process.execPath, [binary, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...cleanEnv(), SVC_KEYRING: "off", SVC_CONFIG_DIR: join(tmpdir(), "svc-e2e-none"), ...env },
  });
  watch(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr, ms: Date.now() - started }));
  });
}
