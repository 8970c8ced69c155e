// From a script's id to its result, once.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../options.ts";
import { Journal, type ScriptResult } from "./journal.ts";
import { killLeftovers, runProcess } from "./process.ts";

export interface Script {
  readonly contents: string;
  /** Seconds. */
  readonly timeout: number;
}

export interface ScriptServer {
  /** Null: the script was cancelled. */
  request(id: string): Promise<Script | null>;
  /** Also fulfilled if the server no longer wants the result. */
  deliver(id: string, result: ScriptResult): Promise<void>;
}

export interface RunnerOptions {
  readonly stateDir: string;
  readonly runsScripts: boolean;
  readonly server: ScriptServer;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const INTERRUPTED = "The agent stopped while this script was running. It is not run again.";
const failed = (output: string, timeout = 0): ScriptResult => ({ output, runtime: 0, exit_code: -1, timeout });

export class ScriptRunner {
  readonly #options: RunnerOptions;
  readonly #journal: Journal;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#journal = new Journal(options.stateDir);
  }

  /** Delivers what an earlier process of the agent could not. */
  async recover(): Promise<void> {
    await this.#journal.prune(Date.now());
    for (const id of await this.#journal.unfinished()) await this.run(id);
  }

  async run(id: string): Promise<void> {
    const { server, log } = this.#options;
    if (!Journal.accepts(id)) return server.deliver(id, failed("The agent cannot store this execution id."));
    const entry = await this.#journal.read(id);
    if (entry?.state === "delivered") return;
    if (entry?.state === "finished") return this.#deliver(id, entry.result);
    if (entry?.state === "started") {
      await killLeftovers(id);
      log("warn", `script ${id} was interrupted`);
      return this.#finish(id, failed(INTERRUPTED));
    }
    const script = await server.request(id);
    if (script !== null) await this.#finish(id, await this.#execute(id, script));
  }

  async #execute(id: string, { contents, timeout }: Script): Promise<ScriptResult> {
    const { runsScripts, log, signal } = this.#options;
    if (!runsScripts) return { output: "Scripts are disabled", runtime: 0, exit_code: -2, timeout };
    const folder = this.#journal.filesOf(id);
    try {
      await this.#journal.write(id, { state: "started" });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const command = commandFor(contents, folder);
      // Windows PowerShell takes a file without a byte order mark for one in the system's old code page.
      const mark = command.file.endsWith(".ps1") ? "\ufeff" : "";
      await writeFile(command.file, mark + contents, { mode: 0o700 });
      log("info", `script ${id} starts`);
      const started = performance.now();
      const ran = await runProcess({ id, command: command.argv, cwd: folder, timeoutMs: timeout * 1000, signal });
      const runtime = Math.round((performance.now() - started) / 1000);
      log("info", `script ${id} ended with ${ran.timedOut ? "a time-out" : `exit code ${ran.exitCode}`}`);
      const note = ran.timedOut ? `\nThe script was stopped after its time limit of ${timeout} seconds.` : "";
      return { output: ran.output + note, runtime, exit_code: ran.exitCode, timeout };
    } catch (error) {
      // Without a place to write the journal, such as on a full disk, the script must not run.
      return failed(`The agent could not run the script: ${(error as Error).message}`, timeout);
    } finally {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }

  async #finish(id: string, result: ScriptResult): Promise<void> {
    await this.#journal.write(id, { state: "finished", result }).catch((error: Error) => {
      // It can still be delivered. If the agent dies before that, the script is reported as interrupted.
      this.#options.log("error", `the result of script ${id} cannot be stored: ${error.message}`);
    });
    await this.#deliver(id, result);
  }

  async #deliver(id: string, result: ScriptResult): Promise<void> {
    await this.#options.server.deliver(id, result);
    await this.#journal.write(id, { state: "delivered" });
  }
}

/** By the first line, `#!/usr/bin/python3` for example; without one a shell, on Windows PowerShell. */
export function commandFor(contents: string, folder: string, platform: NodeJS.Platform = process.platform) {
  if (platform === "win32") {
    const file = join(folder, "script.ps1");
    const options = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", file];
    return { file, argv: ["powershell.exe", ...options] as [string, ...string[]] };
  }
  const [, interpreter, argument] = /^#!\s*(\S+)(?:[ \t]+(\S.*?))?[ \t]*\r?(?:\n|$)/.exec(contents) ?? [];
  const file = join(folder, /pwsh$/.test(argument ?? interpreter ?? "") ? "script.ps1" : "script");
  // Not executed by its own name: the folder may be on a file system that does not allow it.
  const words = argument === undefined ? [file] : [argument, file];
  return { file, argv: [interpreter ?? "/bin/sh", ...words] as [string, ...string[]] };
}
