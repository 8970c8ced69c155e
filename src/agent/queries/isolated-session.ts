// A session in the agent's second process, which is ended with it if a query takes too long.
import type { SecondProcess } from "../isolated/second-process.ts";
import type { SessionContext, SqlAnswer } from "./sqlite.ts";

const QUERY_MS = 60_000;
const CLOSE_MS = 10_000;

let sessions = 0;

export class IsolatedSession {
  readonly #process: SecondProcess;
  readonly #context: SessionContext;
  readonly #id = ++sessions;
  readonly #limitMs: number;

  constructor(process: SecondProcess, context: SessionContext, limitMs = QUERY_MS) {
    this.#process = process;
    this.#context = context;
    this.#limitMs = limitMs;
  }

  /** A query that takes too long, or ends the process, is answered with an error like any other that fails. */
  async answer(sql: string): Promise<SqlAnswer> {
    const task = { kind: "query", session: this.#id, sql, context: this.#context } as const;
    try {
      return await this.#process.run<SqlAnswer>(task, this.#limitMs);
    } catch (error) {
      this.#process.signal.throwIfAborted();
      return { status: 1, message: (error as Error).message, rows: [] };
    }
  }

  async close(): Promise<void> {
    if (!this.#process.isRunning) return;
    await this.#process.run({ kind: "close", session: this.#id }, CLOSE_MS).catch(() => {});
  }
}
