// From a script's id to its result, once.
import { rm } from "node:fs/promises";
import type { Log } from "../options.ts";
import { isJournalId, Journal } from "../state/journal.ts";
import { type FindProcesses, killLeftovers } from "./process.ts";
import { runScript } from "./script.ts";

export interface ScriptResult {
  readonly output: string;
  /** Seconds. */
  readonly runtime: number;
  readonly exit_code: number;
  /** Seconds. */
  readonly timeout: number;
}

export interface Script {
  readonly contents: string;
  /** Seconds. */
  readonly timeout: number;
}

export interface ScriptServer {
  /** Null: the script was cancelled. */
  request(id: string): Promise<Script | null>;
  /** Fulfilled, too, if the server no longer wants the result. */
  deliver(id: string, result: ScriptResult): Promise<void>;
}

interface RunnerOptions {
  readonly stateDir: string;
  readonly runsScripts: boolean;
  readonly server: ScriptServer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly findProcesses: FindProcesses;
}

const INTERRUPTED = "The agent stopped while this script was running. It is not run again.";
const failed = (output: string, timeout = 0): ScriptResult => ({ output, runtime: 0, exit_code: -1, timeout });

export class ScriptRunner {
  readonly #options: RunnerOptions;
  readonly #journal: Journal<ScriptResult>;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#journal = new Journal(options.stateDir, "scripts");
  }

  /** Delivers what an earlier process of the agent could not. */
  async recover(): Promise<void> {
    await this.#journal.prune(Date.now());
    for (const id of await this.#journal.unfinished()) await this.run(id);
  }

  async run(id: string): Promise<void> {
    const { server, log, findProcesses } = this.#options;
    if (!isJournalId(id)) return server.deliver(id, failed("The agent cannot store this execution id."));
    const entry = await this.#journal.read(id);
    if (entry?.state === "delivered") return;
    if (entry?.state === "finished") return this.#deliver(id, entry.result);
    if (entry?.state === "started") {
      await killLeftovers(id, findProcesses);
      log("warn", `script ${id} was interrupted`);
      return this.#finish(id, failed(INTERRUPTED));
    }
    const script = await server.request(id);
    if (script !== null) await this.#finish(id, await this.#execute(id, script));
  }

  async #execute(id: string, { contents, timeout }: Script): Promise<ScriptResult> {
    const { runsScripts, log, signal, findProcesses } = this.#options;
    if (!runsScripts) return { output: "Scripts are disabled", runtime: 0, exit_code: -2, timeout };
    const folder = this.#journal.filesOf(id);
    try {
      await this.#journal.write(id, { state: "started" });
      log("info", `script ${id} starts`);
      const script = { id, contents, folder, timeout, signal, findProcesses };
      const { output, exitCode, timedOut, runtime } = await runScript(script);
      log("info", `script ${id} ended with ${timedOut ? "a time-out" : `exit code ${exitCode}`}`);
      return { output, runtime, exit_code: exitCode, timeout };
    } catch (error) {
      // Without a place to write the journal, such as on a full disk, the script must not run.
      return failed(`The agent could not run the script: ${(error as Error).message}`, timeout);
    } finally {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }

  async #finish(id: string, result: ScriptResult): Promise<void> {
    await this.#journal.write(id, { state: "finished", result }).catch((error: Error) => {
      // The result can still be delivered. If the agent dies before that, the script is reported as interrupted.
      this.#options.log("error", `the result of script ${id} cannot be stored: ${error.message}`);
    });
    await this.#deliver(id, result);
  }

  async #deliver(id: string, result: ScriptResult): Promise<void> {
    await this.#options.server.deliver(id, result);
    await this.#journal.write(id, { state: "delivered" });
  }
}
