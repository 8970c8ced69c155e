// Runs the osqueryd that is installed on this machine, which then answers the server's queries.
import { spawn } from "node:child_process";
import { access, constants, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import { osqueryFlags } from "../agent-wire/osquery-flags.ts";
import { backoff } from "./net/waits.ts";
import type { AgentOptions } from "./options.ts";
import { replaceFile } from "./state/files.ts";

const PLACES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["/opt/osquery/bin/osqueryd", "/usr/bin/osqueryd", "/usr/local/bin/osqueryd"],
  darwin: ["/opt/osquery/lib/osquery.app/Contents/MacOS/osqueryd", "/usr/local/bin/osqueryd"],
  win32: ["C:\\Program Files\\osquery\\osqueryd\\osqueryd.exe"],
};

/** A process that ran this long was not broken from the start. */
const HEALTHY_MS = 5 * 60_000;
const FIRST_WAIT_MS = 5_000;
const STOP_MS = 10_000;

const canRun = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** The installed program; null if there is none. */
export async function findOsqueryd(platform: NodeJS.Platform = process.platform): Promise<string | null> {
  for (const path of PLACES[platform] ?? []) if (await canRun(path)) return path;
  return null;
}

/** The lines of the flag file. `options` are flags that the server's configuration adds or replaces. */
function flagLines(recommended: readonly string[], options: Readonly<Record<string, unknown>>): string[] {
  const flags = new Map(recommended.map((line) => line.slice(2).split(/=(.*)/s, 2) as [string, string]));
  for (const [name, value] of Object.entries(options))
    if (/^\w+$/.test(name) && ["string", "number", "boolean"].includes(typeof value))
      // A line break would begin another flag.
      flags.set(name, String(value).replace(/[\r\n]/g, " "));
  return [...flags].map(([name, value]) => `--${name}=${value}`);
}

/** Names under which osqueryd enrolls. */
export interface EngineIdentity {
  readonly identifier: string;
  /** False: the identifier is the hardware UUID, which osqueryd reads by itself. */
  readonly isSeparate: boolean;
}

export class Osqueryd {
  readonly #program: string;
  readonly #options: AgentOptions;
  readonly #identity: EngineIdentity;
  readonly #folder: string;
  #serverFlags: Readonly<Record<string, unknown>> = {};
  #restart = new AbortController();

  /** `identity` is read at each start. */
  constructor(program: string, options: AgentOptions, identity: EngineIdentity) {
    this.#program = program;
    this.#options = options;
    this.#identity = identity;
    this.#folder = join(options.stateDir, "osquery");
  }

  /** Flags that cannot be changed while it runs: it restarts if they have changed. */
  use(flags: Readonly<Record<string, unknown>>): void {
    if (JSON.stringify(flags) === JSON.stringify(this.#serverFlags)) return;
    this.#serverFlags = flags;
    this.#restart.abort();
  }

  /** Starts it again, under the identifier that the machine has now. */
  restart(): void {
    this.#restart.abort();
  }

  /** Keeps it running until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, scale } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      this.#restart = new AbortController();
      const started = performance.now();
      const restart = AbortSignal.any([signal, this.#restart.signal]);
      const ended = await this.#runOnce(restart).catch((error: Error) => error.message);
      if (restart.aborted) continue;
      failures = performance.now() - started > HEALTHY_MS * scale ? 1 : failures + 1;
      const wait = backoff(failures, FIRST_WAIT_MS) * scale;
      log("warn", `osqueryd ended (${ended}); it is started again in ${Math.ceil(wait / 1000)} seconds`);
      await after(wait, undefined, { signal: restart }).catch(() => {});
    }
  }

  /** Resolves with the reason when the process has ended. */
  async #runOnce(stop: AbortSignal): Promise<string> {
    const flagFile = await this.#writeFiles();
    const child = spawn(this.#program, [`--flagfile=${flagFile}`], { stdio: "ignore", windowsHide: true });
    let forced: NodeJS.Timeout | undefined;
    const end = () => {
      child.kill("SIGTERM");
      forced = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    };
    const ended = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signalName) => resolve(signalName ?? `exit code ${code}`));
    });
    child.once("spawn", () => this.#options.log("info", `osqueryd runs: ${this.#program}`));
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
    const reason = await ended;
    stop.removeEventListener("abort", end);
    clearTimeout(forced);
    return reason;
  }

  /** The database of osqueryd has its key: a copy of this machine must not use it. */
  async #forgetOther(): Promise<void> {
    const { identifier } = this.#identity;
    const file = join(this.#folder, "identifier");
    const storedIdentifier = (await readFile(file, "utf8").catch(() => "")).trim();
    if (storedIdentifier === identifier) return;
    if (storedIdentifier !== "") await rm(join(this.#folder, "osquery.db"), { recursive: true, force: true });
    await replaceFile(file, `${identifier}\n`);
  }

  async #writeFiles(): Promise<string> {
    const { serverUrl, enrollSecret, ca } = this.#options;
    const path = (name: string) => join(this.#folder, name);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(path("secret"), enrollSecret);
    await replaceFile(path("certificates.pem"), ca ?? rootCertificates.join("\n"));
    await this.#forgetOther();
    const { identifier, isSeparate } = this.#identity;
    const recommended = osqueryFlags({ serverUrl, serverCerts: path("certificates.pem"), secretPath: path("secret") });
    const ownFlags = [
      `--database_path=${path("osquery.db")}`,
      `--pidfile=${path("osqueryd.pid")}`,
      `--logger_path=${this.#folder}`,
      `--extensions_socket=${path("osquery.em")}`,
      // Ends one that an earlier process of the agent has left.
      "--force=true",
      ...(isSeparate ? ["--host_identifier=specified", `--specified_identifier=${identifier}`] : []),
    ];
    const flagFile = path("osquery.flags");
    await replaceFile(flagFile, `${flagLines([...recommended, ...ownFlags], this.#serverFlags).join("\n")}\n`);
    return flagFile;
  }
}
