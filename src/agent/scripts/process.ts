// Runs one script as a process group of its own.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";

/** The server stores the last 10,000 characters of the output. */
const OUTPUT_BYTES = 40_000;
const OUTPUT_CHARACTERS = 10_000;
/** How long processes that a script leaves behind may still write output. */
const AFTERWARDS_MS = 500;
/** Marks the processes of a script. */
const MARK = "SVC_SCRIPT_EXECUTION";

const isWindows = process.platform === "win32";

interface Ran {
  readonly output: string;
  /** -1: it was killed, or could not be started. */
  readonly exitCode: number;
  readonly timedOut: boolean;
}

interface Run {
  readonly id: string;
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** In addition to the agent's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly findProcesses: FindProcesses;
}

/** The ids of the processes that have a variable, `NAME=value`, in their environment. */
export type FindProcesses = (variable: string) => Promise<readonly number[]>;

/** Keeps the end of what is written to it. */
class Tail {
  #parts: Buffer[] = [];
  #size = 0;
  #isCut = false;

  add(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= 2 * OUTPUT_BYTES) return;
    this.#parts = [Buffer.concat(this.#parts).subarray(-OUTPUT_BYTES)];
    this.#size = OUTPUT_BYTES;
    this.#isCut = true;
  }

  toString(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    if (!this.#isCut && text.length <= OUTPUT_CHARACTERS) return text;
    return text.slice(-OUTPUT_CHARACTERS);
  }
}

/** Without the agent's own settings, which may contain the enroll secret. */
const environment = (id: string, variables: Run["env"]) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_"))),
  ...variables,
  [MARK]: id,
});

export async function runProcess(run: Run): Promise<Ran> {
  const { id, command, cwd, env, timeoutMs, signal, findProcesses } = run;
  const [file, ...args] = command;
  const child = spawn(file, args, {
    cwd,
    env: environment(id, env),
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own. On Windows it would be a console of its own.
    detached: !isWindows,
    windowsHide: true,
    // The words of `cmd.exe` are one line.
    windowsVerbatimArguments: true,
  });
  const tail = new Tail();
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => tail.add(part));
  const closed = once(child, "close").catch(() => null);
  const ended = new Promise<number>((resolve) => {
    child.once("error", (error) => {
      tail.add(Buffer.from(`the script cannot be started: ${error.message}`));
      resolve(-1);
    });
    child.once("exit", (code) => resolve(code ?? -1));
  });

  const over = new AbortController();
  const limit = after(timeoutMs, "limit" as const, { signal: over.signal }).catch(() => "over" as const);
  const stopped = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { signal: over.signal });
  });
  const first = await Promise.race([ended, limit, stopped]);
  if (typeof first !== "number") {
    await killGroup(child);
    // Some may have left the group.
    await killLeftovers(id, findProcesses);
  }
  const exitCode = await ended;
  // Processes in the background may have inherited the output, and may run forever.
  await Promise.race([closed, after(AFTERWARDS_MS, null, { signal: over.signal }).catch(() => null)]);
  over.abort();
  child.stdout.destroy();
  child.stderr.destroy();
  return { output: tail.toString(), exitCode: typeof first === "number" ? exitCode : -1, timedOut: first === "limit" };
}

async function killGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  if (isWindows) return endTree(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}

const endTree = (pid: number) =>
  new Promise<void>((resolve) => {
    execFile("taskkill", ["/pid", String(pid), "/t", "/f"], { windowsHide: true }, () => resolve());
  });

/** What may start new processes while the others are ended. */
const KILL_ROUNDS = 20;

/**
 * Ends what a script left running when the agent died or its time was over. Its processes have its id in their
 * environment. Only Linux shows it: elsewhere the service manager ends the processes of a service that has died.
 */
export async function killLeftovers(id: string, findProcesses: FindProcesses): Promise<void> {
  if (process.platform !== "linux") return;
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const pids = (await findProcesses(`${MARK}=${id}`)).filter((pid) => pid !== process.pid);
    if (!pids.map(killProcess).includes(true)) return;
  }
}

/** Whether there was such a process. */
function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
    return false;
  }
}
