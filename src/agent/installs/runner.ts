// From an install's id to its result. Its scripts run at most once each, whatever happens to the agent meanwhile.
import { readdir, readFile, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import type { StreamedReply } from "../net/connection.ts";
import type { Log } from "../options.ts";
import type { SqlAnswer } from "../queries/sqlite.ts";
import { type FindProcesses, killLeftovers } from "../scripts/process.ts";
import { runScript, type ScriptEnd } from "../scripts/script.ts";
import { isJournalId, Journal } from "../state/journal.ts";
import { DownloadFailed, downloadPackage } from "./download.ts";

export interface InstallDetails {
  readonly installerId: number;
  /** SHA-256 of the package, hexadecimal; null if the server does not send it here. */
  readonly sha256: string | null;
  /** Seconds for all scripts together. */
  readonly timeout: number | null;
  /** The software is installed only if it returns a row. */
  readonly preInstallQuery: string | null;
  readonly installScript: string | null;
  readonly postInstallScript: string | null;
  readonly uninstallScript: string | null;
}

/** A result as it is sent. Null: this step was not reached. */
export interface InstallResult {
  /** Empty: the query returned no row. */
  readonly pre_install_condition_output: string | null;
  readonly install_script_exit_code: number | null;
  readonly install_script_output: string | null;
  readonly post_install_script_exit_code: number | null;
  readonly post_install_script_output: string | null;
}

export interface InstallServer {
  /** Null: the install was cancelled. */
  installDetails(id: string): Promise<InstallDetails | null>;
  openPackage(installerId: number, headers: Record<string, string>, signal: AbortSignal): Promise<StreamedReply>;
  /** Fulfilled, too, if the server no longer wants the result. */
  deliverInstall(id: string, result: InstallResult): Promise<void>;
}

interface InstallOptions {
  readonly stateDir: string;
  readonly runsScripts: boolean;
  readonly server: InstallServer;
  readonly query: (sql: string) => Promise<SqlAnswer>;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly findProcesses: FindProcesses;
}

interface StepOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  /** What a crash during the step would have to report. */
  readonly soFar: InstallResult;
}

/** Unless the server sends another limit, the scripts of an install have an hour; a roll-back has time of its own. */
const LIMIT_S = 3600;
const ROLL_BACK_LIMIT_S = 15 * 60;
const DOWNLOADS_KEPT_MS = 86_400_000;
const OUTPUT_CHARACTERS = 10_000;

const nothing: InstallResult = {
  pre_install_condition_output: null,
  install_script_exit_code: null,
  install_script_output: null,
  post_install_script_exit_code: null,
  post_install_script_output: null,
};
const notInstalled = (soFar: InstallResult, output: string, code = -1): InstallResult => ({
  ...soFar,
  install_script_exit_code: code,
  install_script_output: output,
});
const INTERRUPTED = "The agent stopped while this script was running. It is not run again.";

export class InstallRunner {
  readonly #options: InstallOptions;
  readonly #journal: Journal<InstallResult>;

  constructor(options: InstallOptions) {
    this.#options = options;
    this.#journal = new Journal(options.stateDir, "installs", DOWNLOADS_KEPT_MS);
  }

  /** Delivers what an earlier process of the agent could not. */
  async recover(): Promise<void> {
    await this.#journal.prune(Date.now());
    for (const id of await this.#journal.unfinished()) await this.run(id);
  }

  async run(id: string): Promise<void> {
    const { server, log, findProcesses } = this.#options;
    if (!isJournalId(id)) return server.deliverInstall(id, notInstalled(nothing, "The agent cannot store this id."));
    const entry = await this.#journal.read(id);
    if (entry?.state === "delivered") return;
    if (entry?.state === "finished") return this.#deliver(id, entry.result);
    if (entry?.state === "started") {
      await killLeftovers(id, findProcesses);
      log("warn", `install ${id} was interrupted`);
      return this.#finish(id, await this.#interrupted(id, entry.soFar ?? nothing));
    }
    const details = await server.installDetails(id);
    if (details === null) return this.#removeFiles(id);
    await this.#finish(id, await this.#install(id, details));
  }

  async #install(id: string, details: InstallDetails): Promise<InstallResult> {
    const { runsScripts, server, log, signal } = this.#options;
    if (!runsScripts) return notInstalled(nothing, "Scripts are disabled", -2);
    const checked = await this.#preInstall(details);
    if (checked.pre_install_condition_output === "") return checked;
    let path: string;
    try {
      const open = (headers: Record<string, string>) => server.openPackage(details.installerId, headers, signal);
      path = await downloadPackage({ open }, { folder: this.#journal.filesOf(id), sha256: details.sha256 });
    } catch (error) {
      if (!(error instanceof DownloadFailed)) throw error;
      log("error", `install ${id}: ${error.message}`);
      return notInstalled(checked, `The package could not be downloaded: ${error.message}`);
    }
    // A package may itself be the script.
    const isScript = [".sh", ".py", ".ps1"].includes(extname(path).toLowerCase());
    const script = details.installScript ?? (isScript ? await readFile(path, "utf8") : null);
    if (script === null) return notInstalled(checked, "The package has no install script.");
    log("info", `install ${id} starts`);
    const started = performance.now();
    const env = { INSTALLER_PATH: path };
    const limit = details.timeout ?? LIMIT_S;
    const soFar = notInstalled(checked, INTERRUPTED);
    const installed = await this.#step(id, "install", script, { env, timeout: limit, soFar });
    const result = notInstalled(checked, installed.output, installed.exitCode);
    log("info", `install ${id}: the install script ended with exit code ${installed.exitCode}`);
    if (installed.exitCode !== 0 || details.postInstallScript === null) return result;
    const timeout = Math.max(60, limit - Math.round((performance.now() - started) / 1000));
    const pending = { ...result, post_install_script_exit_code: -1, post_install_script_output: INTERRUPTED };
    const post = await this.#step(id, "post-install", details.postInstallScript, { env, timeout, soFar: pending });
    log("info", `install ${id}: the post-install script ended with exit code ${post.exitCode}`);
    const whole = { ...result, post_install_script_exit_code: post.exitCode, post_install_script_output: post.output };
    return post.exitCode === 0 ? whole : this.#rollBack(id, details, whole, env);
  }

  /** A query that fails counts as one without rows, and its reason is reported in the place of the install script. */
  async #preInstall({ preInstallQuery }: InstallDetails): Promise<InstallResult> {
    if (preInstallQuery === null) return nothing;
    const { status, message, rows } = await this.#options.query(preInstallQuery);
    const output = rows.length === 0 ? "" : JSON.stringify(rows).slice(0, OUTPUT_CHARACTERS);
    const checked = { ...nothing, pre_install_condition_output: status === 0 ? output : "" };
    return status === 0 ? checked : notInstalled(checked, `The pre-install query failed: ${message}`);
  }

  async #step(id: string, name: string, contents: string, { env, timeout, soFar }: StepOptions): Promise<ScriptEnd> {
    const { signal, findProcesses } = this.#options;
    try {
      // Unless the step can be noted, and on a full disk it cannot, the script must not run.
      await this.#journal.write(id, { state: "started", soFar });
      const folder = join(this.#journal.filesOf(id), name);
      return await runScript({ id, contents, folder, timeout, env, signal, findProcesses });
    } catch (error) {
      const output = `The agent could not run the script: ${(error as Error).message}`;
      return { output, exitCode: -1, timedOut: false, runtime: 0 };
    }
  }

  /** Removes again what was installed, because a later step has failed. */
  async #rollBack(
    id: string,
    { uninstallScript }: InstallDetails,
    failed: InstallResult,
    env: Readonly<Record<string, string>>,
  ): Promise<InstallResult> {
    const withNote = (note: string): InstallResult => ({
      ...failed,
      post_install_script_output: `${failed.post_install_script_output?.slice(-OUTPUT_CHARACTERS / 2) ?? ""}\n${note}`,
    });
    if (uninstallScript === null) return withNote("It was not rolled back: the package has no uninstall script.");
    const soFar = withNote("The agent stopped while the uninstall script was running. It is not run again.");
    const { exitCode, output } = await this.#step(id, "roll-back", uninstallScript, {
      env,
      timeout: ROLL_BACK_LIMIT_S,
      soFar,
    });
    this.#options.log("warn", `install ${id} was rolled back, with exit code ${exitCode}`);
    return withNote(
      `Rolled back: the uninstall script ended with exit code ${exitCode}.\n${output.slice(-OUTPUT_CHARACTERS / 3)}`,
    );
  }

  /** What is reported after a crash. If the software is there, and the post-install script has not ended, it goes. */
  async #interrupted(id: string, soFar: InstallResult): Promise<InstallResult> {
    if (soFar.post_install_script_output !== INTERRUPTED) return soFar;
    const details = await this.#options.server.installDetails(id);
    const folder = join(this.#journal.filesOf(id), "package");
    const [name] = await readdir(folder).catch(() => []);
    return details === null ? soFar : this.#rollBack(id, details, soFar, { INSTALLER_PATH: join(folder, name ?? "") });
  }

  async #finish(id: string, result: InstallResult): Promise<void> {
    await this.#journal.write(id, { state: "finished", result }).catch((error: Error) => {
      // The result can still be delivered. If the agent dies before that, the install is reported as interrupted.
      this.#options.log("error", `the result of install ${id} cannot be stored: ${error.message}`);
    });
    await this.#removeFiles(id);
    await this.#deliver(id, result);
  }

  async #deliver(id: string, result: InstallResult): Promise<void> {
    await this.#options.server.deliverInstall(id, result);
    await this.#journal.write(id, { state: "delivered" });
  }

  #removeFiles(id: string): Promise<void> {
    return rm(this.#journal.filesOf(id), { recursive: true, force: true }).catch(() => {});
  }
}
