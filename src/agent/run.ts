// The agent: loops that run until the signal.
import { mkdir } from "node:fs/promises";
import { Bitlocker } from "./disk-keys/bitlocker.ts";
import { DiskKeyEscrow } from "./disk-keys/escrow.ts";
import { FirstSetup } from "./first-setup.ts";
import { HostIdentity } from "./identity.ts";
import { InstallRunner } from "./installs/runner.ts";
import { SecondProcess } from "./isolated/second-process.ts";
import { type Hardware, readHardware } from "./machine/hardware.ts";
import { type OperatingSystem, readOs } from "./machine/os.ts";
import { ManagedAgent } from "./managed.ts";
import { Connection } from "./net/connection.ts";
import { loop } from "./net/waits.ts";
import type { AgentOptions } from "./options.ts";
import { Osqueryd } from "./osqueryd.ts";
import { QueryEngine } from "./queries/engine.ts";
import { ScriptRunner } from "./scripts/runner.ts";
import { Keys } from "./state/keys.ts";
import { lockState } from "./state/lock.ts";
import { Updater } from "./updates/updater.ts";

const CONFIG_S = 30;
/** While this machine is set up. */
const SETUP_S = 5;
const PING_S = 5 * 60;
const TOKEN_S = 60 * 60;

/** Time to finish requests after the agent was asked to stop. */
const STOP_REQUESTS_MS = 5_000;
const FIND_PROCESSES_MS = 20_000;

const DOWNLOAD = "/enroll/agent.mjs";

export async function runAgent(options: AgentOptions, stop: AbortSignal): Promise<void> {
  const replaced = new AbortController();
  const signal = AbortSignal.any([stop, replaced.signal]);
  const { stateDir } = options;
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const unlock = await lockState(stateDir);
  try {
    await runLocked(options, { signal, replaced });
  } finally {
    await unlock?.();
  }
}

interface Ends {
  readonly signal: AbortSignal;
  /** Ends it for a newer version of itself. */
  readonly replaced: AbortController;
}

async function runLocked(options: AgentOptions, ends: Ends): Promise<void> {
  const { serverUrl, stateDir, enrollSecret, log } = options;
  const [hardware, os] = await Promise.all([readHardware(options.hardware), readOs()]);
  const keys = await Keys.open(stateDir, serverUrl, hardware.uuid);
  const connection = new Connection(options);
  const { signsRequests = false, identityKey = "rsa" } = options;
  const hardwareUuid = hardware.uuid;
  const identity = signsRequests
    ? await HostIdentity.open({ connection, stateDir, serverUrl, hardwareUuid, enrollSecret, identityKey, log })
    : undefined;
  await new Agent(options, ends, { hardware, os, keys, connection, identity }).run();
}

interface Machine {
  readonly hardware: Hardware;
  readonly os: OperatingSystem;
  readonly keys: Keys;
  readonly connection: Connection;
  readonly identity: HostIdentity | undefined;
}

class Agent {
  readonly #options: AgentOptions;
  readonly #ends: Ends;
  readonly #machine: Machine;
  readonly #osqueryd: Osqueryd | null;
  readonly #managed: ManagedAgent;
  readonly #engine: QueryEngine;
  readonly #scripts: ScriptRunner;
  readonly #installs: InstallRunner;
  readonly #setup: FirstSetup;
  readonly #diskKeys: DiskKeyEscrow;
  readonly #bitlocker: Bitlocker;
  readonly #updater: Updater | null;
  /** Aborts when all loops have ended. */
  readonly #over = new AbortController();
  #isRecovered = false;
  /** The scripts and installs that the server named last. */
  #lastNamed = "";

  constructor(options: AgentOptions, ends: Ends, machine: Machine) {
    this.#options = options;
    this.#ends = ends;
    this.#machine = machine;
    const { stateDir, enrollSecret, runsScripts, log, secondProgram: program } = options;
    const { hardware, os, keys, connection, identity } = machine;
    const { platform } = os;
    const { signal } = ends;
    this.#osqueryd = options.osqueryd === null ? null : new Osqueryd(options.osqueryd, options, keys);
    const onLeft = async () => {
      await identity?.forget();
      this.#osqueryd?.restart();
    };
    const server = new ManagedAgent({
      ...{ connection, identity, keys, hardware, platform },
      ...{ enrollSecret, stateDir, log, onLeft },
    });
    this.#managed = server;
    const secondProcess = new SecondProcess({ program, signal });
    this.#engine = new QueryEngine({ options, keys, hardware, os, connection, secondProcess });
    const findProcesses = this.#processFinder();
    const query = (sql: string) => this.#engine.answer(sql);
    this.#scripts = new ScriptRunner({ stateDir, runsScripts, server, log, signal, findProcesses });
    this.#installs = new InstallRunner({ stateDir, runsScripts, server, query, log, signal, findProcesses });
    this.#setup = new FirstSetup(server, log);
    this.#diskKeys = new DiskKeyEscrow({ server, log, signal });
    this.#bitlocker = new Bitlocker({ server, log });
    this.#updater = this.#createUpdater();
  }

  /** Runs until the signal. */
  async run(): Promise<void> {
    const { serverUrl, version, scale, log } = this.#options;
    const { hardware, keys, connection } = this.#machine;
    const { signal } = this.#ends;
    if (keys.copiedFrom !== null)
      log("warn", `the keys are those of another machine (${keys.copiedFrom}): this one enrolls as a host of its own`);
    log("info", `svc agent ${version} runs for ${serverUrl} as ${hardware.hostname} (${hardware.uuid})`);
    // A download may take longer than anybody waits for a service to stop.
    const closing = () => void setTimeout(() => connection.close(), STOP_REQUESTS_MS).unref();
    signal.addEventListener("abort", closing, { once: true });
    try {
      await Promise.all([
        this.#osqueryd?.run(signal),
        ...this.#turns().map(([name, turn]) =>
          loop(turn, {
            signal,
            scale,
            onChange: (error) =>
              error === null
                ? log("info", `${name}: works again`)
                : log("warn", `${name}: ${(error as Error).message}; trying again`),
          }),
        ),
      ]);
    } finally {
      this.#over.abort();
      await connection.close();
    }
  }

  #createUpdater(): Updater | null {
    const { updates, stateDir, version, scale, log } = this.#options;
    const { keys, connection } = this.#machine;
    if (updates === undefined) return null;
    return new Updater({
      ...updates,
      ...{ stateDir, version, scale, log },
      key: () => keys.get("update_key"),
      fetch: (most) => connection.bytes(DOWNLOAD, most),
    });
  }

  #processFinder(): (variable: string) => Promise<number[]> {
    const { secondProgram: program, log } = this.#options;
    // Runs on after the signal, for the processes of a script that was ended.
    const finder = new SecondProcess({ program, signal: this.#over.signal, idleMs: 1_000 });
    return (variable) =>
      finder.run<number[]>({ kind: "find-processes", variable }, FIND_PROCESSES_MS).catch((error: Error) => {
        log("warn", `looking for processes that a script left: ${error.message}`);
        return [];
      });
  }

  #turns(): [name: string, turn: () => Promise<number>][] {
    return [
      ["configuration", () => this.#configTurn()],
      ["ping", everySeconds(PING_S, () => this.#managed.ping())],
      ["device token", everySeconds(TOKEN_S, () => this.#managed.rotateDeviceToken())],
      ...(this.#osqueryd === null ? this.#engine.turns() : []),
    ];
  }

  async #configTurn(): Promise<number> {
    const { log } = this.#options;
    const { signal, replaced } = this.#ends;
    const managed = this.#managed;
    await this.#recover();
    const config = await managed.config();
    // A confirmation that cannot be recorded, such as on a full disk, is tried again.
    await this.#updater?.confirm().catch((error: Error) => log("warn", `update: ${error.message}`));
    this.#osqueryd?.use(config.flags);
    if (config.wantsDiskKey && process.platform === "linux") void this.#diskKeys.start();
    if (config.bitlocker !== null && process.platform === "win32") void this.#bitlocker.start(config.bitlocker);
    for (const id of config.scripts) if (!signal.aborted) await this.#scripts.run(id);
    for (const id of config.installs) if (!signal.aborted) await this.#installs.run(id);
    if (!signal.aborted) await this.#setup.turn(config.isSettingUp);
    if (managed.needsToken && !signal.aborted) await managed.rotateDeviceToken();
    // Between scripts and installs, never in the middle of one.
    if (config.update !== null && !signal.aborted && (await this.#updater?.take(config.update))) replaced.abort();
    // The server names one script or install at a time, so the next one may wait already. What it names again although
    // it is done does not.
    const named = [...config.scripts, ...config.installs].join();
    const hasNew = named !== "" && named !== this.#lastNamed;
    this.#lastNamed = named;
    if (hasNew) return 0;
    return config.isSettingUp ? SETUP_S : CONFIG_S;
  }

  /** Once: reports what an earlier process has not finished. */
  async #recover(): Promise<void> {
    if (this.#isRecovered) return;
    await this.#scripts.recover();
    await this.#installs.recover();
    this.#isRecovered = true;
  }
}

const everySeconds = (seconds: number, work: () => Promise<void>) => async () => {
  await work();
  return seconds;
};
