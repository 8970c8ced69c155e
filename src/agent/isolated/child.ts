// The agent's second process: it reads what other accounts can influence. The first one ends it when a task takes too
// long, whatever blocks it: an endless query, a file system that does not answer, or too much memory.
import { Worker } from "node:worker_threads";
import { Session } from "../queries/sqlite.ts";
import { tablesFor } from "../tables/all.ts";
import { processesWith } from "./marked-processes.ts";
import type { Task, TaskMessage, TaskReply } from "./messages.ts";

/** Not `process.exit`, which waits for calls of the file system. */
const endNow = () => process.kill(process.pid, "SIGKILL");

/** Ends this process when the agent has ended without ending it. In a thread, because queries block this one. */
const GUARD = `
const parent = process.ppid;
const ended = () => { try { process.kill(parent, 0); return process.ppid !== parent; } catch { return true; } };
setInterval(() => { if (ended()) process.kill(process.pid, "SIGKILL"); }, 2000);`;

export function serveAgent(): void {
  if (process.send === undefined) throw new Error("the agent starts its process for queries by itself");
  const reply = (message: TaskReply) => void process.send?.(message);
  const tasks = new Tasks();
  new Worker(GUARD, { eval: true }).unref();
  process.on("disconnect", endNow);
  process.on("message", ({ id, task }: TaskMessage) => {
    tasks.run(task).then(
      (result) => reply({ id, result: result ?? null }),
      (error: Error) => reply({ id, failure: error.message }),
    );
  });
}

class Tasks {
  readonly #tables = tablesFor(process.platform);
  readonly #sessions = new Map<number, Promise<Session>>();

  async run(task: Task): Promise<unknown> {
    if (task.kind === "find-processes") return processesWith(task.variable);
    if (task.kind === "close") return this.#close(task.session);
    const session = this.#sessions.get(task.session) ?? Session.open(this.#tables, task.context);
    this.#sessions.set(task.session, session);
    return (await session).answer(task.sql);
  }

  async #close(id: number): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    (await session)?.close();
  }
}
