import { type ChildProcess, spawn } from "node:child_process";
import { TimeLimitExceeded } from "../reading/time-limit.ts";
import type { Task, TaskReply } from "./messages.ts";

/** The process ends after this time without a task, and then takes no memory. */
const IDLE_MS = 60_000;
const HEAP_MB = 384;
/** Threads of libuv, for reads that never end. */
const THREADS = 64;
/** Processes that hang in the kernel, and have not ended although they were killed. */
const STUCK_MAX = 3;

interface SecondProcessOptions {
  readonly program: readonly [string, ...string[]];
  /** Ends it, with its task. */
  readonly signal: AbortSignal;
  readonly idleMs?: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/** Without the agent's own settings, which may contain the enroll secret. */
const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SVC_"))),
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --max-old-space-size=${HEAP_MB}`.trim(),
  UV_THREADPOOL_SIZE: String(THREADS),
});

/** Runs one task at a time in another process. It starts with the first task, and again with the next one after it ended. */
export class SecondProcess {
  readonly #options: SecondProcessOptions;
  readonly #stuck = new Set<ChildProcess>();
  #running: Running | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #tasks = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: SecondProcessOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => this.#kill(), { once: true });
  }

  /** Rejects with `TimeLimitExceeded` after ending the process, and if the process ends by itself. */
  run<T>(task: Task, limitMs: number): Promise<T> {
    const result = this.#last.then(() => this.#run<T>(task, limitMs));
    this.#last = result.catch(() => {});
    return result;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Whether the process runs now, with the sessions that were opened in it. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  async #run<T>(task: Task, limitMs: number): Promise<T> {
    clearTimeout(this.#idle);
    this.#options.signal.throwIfAborted();
    const running = this.#start();
    const id = ++this.#tasks;
    const { child } = running;
    let timer: NodeJS.Timeout | undefined;
    let listener: ((reply: TaskReply) => void) | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        listener = (reply) => {
          if (reply.id !== id) return;
          if ("failure" in reply) reject(new Error(reply.failure));
          else resolve(reply.result as T);
        };
        child.on("message", listener);
        void running.ended.then((reason) => reject(new Error(`the process for queries has ended: ${reason}`)));
        timer = setTimeout(() => {
          this.#kill();
          reject(new TimeLimitExceeded(`stopped because it took longer than ${limitMs / 1000} seconds`));
        }, limitMs);
        // A failure to send means that the process has ended, which has a better reason.
        child.send({ id, task }, () => {});
      });
    } finally {
      clearTimeout(timer);
      if (listener !== undefined) child.off("message", listener);
      this.#idle = setTimeout(() => this.#kill(), this.#options.idleMs ?? IDLE_MS);
      this.#idle.unref();
    }
  }

  #start(): Running {
    if (this.#running !== null) return this.#running;
    if (this.#stuck.size >= STUCK_MAX)
      throw new Error("queries are not answered, because file systems of this machine do not answer");
    const [file, ...args] = this.#options.program;
    const child = spawn(file, args, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: environment(),
      windowsHide: true,
    });
    const ended = new Promise<string>((resolve) => {
      child.on("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const running = { child, ended };
    void ended.then(() => {
      this.#stuck.delete(child);
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  #kill(): void {
    clearTimeout(this.#idle);
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    this.#stuck.add(running.child);
    running.child.kill("SIGKILL");
    // A process that hangs in the kernel is not waited for.
    running.child.unref();
    running.child.channel?.unref();
  }
}
