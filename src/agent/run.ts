// The agent: loops that run until the signal.
import { mkdir } from "node:fs/promises";
import { Bitlocker } from "./disk-keys/bitlocker.ts";
import { DiskKeyEscrow } from "./disk-keys/escrow.ts";
import { FirstSetup } from "./first-setup.ts";
import { HostIdentity } from "./identity.ts";
import { InstallRunner } from "./installs/runner.ts";
import { SecondProcess } from "./isolated/second-process.ts";
import { readHardware } from "./machine/hardware.ts";
import { readOs } from "./machine/os.ts";
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

async function runLocked(options: AgentOptions, { signal, replaced }: Ends): Promise<void> {
  const { serverUrl, stateDir, enrollSecret, runsScripts, scale, log } = options;
  const [hardware, os] = await Promise.all([readHardware(options.hardware), readOs()]);
  const keys = await Keys.open(stateDir, serverUrl, hardware.uuid);
  const connection = new Connection(options);
  const { platform } = os;
  const { signsRequests = false, identityKey = "rsa" } = options;
  const hardwareUuid = hardware.uuid;
  const identity = signsRequests
    ? await HostIdentity.open({ connection, stateDir, serverUrl, hardwareUuid, enrollSecret, identityKey, log })
    : undefined;
  const osqueryd = options.osqueryd === null ? null : new Osqueryd(options.osqueryd, options, keys);
  const onLeft = async () => {
    await identity?.forget();
    osqueryd?.restart();
  };
  const parts = { connection, identity, keys, hardware, platform, enrollSecret, stateDir, log, onLeft };
  const managed = new ManagedAgent(parts);
  const over = new AbortController();
  const { secondProgram: program } = options;
  const secondProcess = new SecondProcess({ program, signal });
  // Runs on after the signal, for the processes of a script that was ended.
  const finder = new SecondProcess({ program, signal: over.signal, idleMs: 1_000 });
  const findProcesses = (variable: string) =>
    finder.run<number[]>({ kind: "find-processes", variable }, FIND_PROCESSES_MS).catch((error: Error) => {
      log("warn", `looking for processes that a script left: ${error.message}`);
      return [];
    });
  const scripts = new ScriptRunner({ stateDir, runsScripts, server: managed, log, signal, findProcesses });
  const engine = new QueryEngine({ options, keys, hardware, os, connection, secondProcess });
  const query = (sql: string) => engine.answer(sql);
  const installs = new InstallRunner({
    stateDir,
    runsScripts,
    server: managed,
    query,
    log,
    signal,
    findProcesses,
  });
  const setup = new FirstSetup(managed, log);
  const diskKeys = new DiskKeyEscrow({ server: managed, log, signal });
  const bitlocker = new Bitlocker({ server: managed, log });
  const updater =
    options.updates === undefined
      ? null
      : new Updater({
          ...options.updates,
          ...{ stateDir, version: options.version, scale, log },
          key: () => keys.get("update_key"),
          fetch: (most) => connection.bytes(DOWNLOAD, most),
        });

  let isRecovered = false;
  let lastNamed = "";
  const configTurn = async () => {
    if (!isRecovered) {
      await scripts.recover();
      await installs.recover();
      isRecovered = true;
    }
    const config = await managed.config();
    // A confirmation that cannot be recorded, such as on a full disk, is tried again.
    await updater?.confirm().catch((error: Error) => log("warn", `update: ${error.message}`));
    osqueryd?.use(config.flags);
    if (config.wantsDiskKey && process.platform === "linux") void diskKeys.start();
    if (config.bitlocker !== null && process.platform === "win32") void bitlocker.start(config.bitlocker);
    for (const id of config.scripts) if (!signal.aborted) await scripts.run(id);
    for (const id of config.installs) if (!signal.aborted) await installs.run(id);
    if (!signal.aborted) await setup.turn(config.isSettingUp);
    if (managed.needsToken && !signal.aborted) await managed.rotateDeviceToken();
    // Between scripts and installs, never in the middle of one.
    if (config.update !== null && !signal.aborted && (await updater?.take(config.update))) replaced.abort();
    // The server names one script or install at a time, so the next one may wait already. What it names again although
    // it is done does not.
    const named = [...config.scripts, ...config.installs].join();
    const hasNew = named !== "" && named !== lastNamed;
    lastNamed = named;
    if (hasNew) return 0;
    return config.isSettingUp ? SETUP_S : CONFIG_S;
  };
  const everySeconds = (seconds: number, work: () => Promise<void>) => async () => {
    await work();
    return seconds;
  };
  const turns: [name: string, turn: () => Promise<number>][] = [
    ["configuration", configTurn],
    ["ping", everySeconds(PING_S, () => managed.ping())],
    ["device token", everySeconds(TOKEN_S, () => managed.rotateDeviceToken())],
    ...(osqueryd === null ? engine.turns() : []),
  ];
  if (keys.copiedFrom !== null)
    log("warn", `the keys are those of another machine (${keys.copiedFrom}): this one enrolls as a host of its own`);
  log("info", `svc agent ${options.version} runs for ${serverUrl} as ${hardware.hostname} (${hardware.uuid})`);
  // A download may take longer than anybody waits for a service to stop.
  const closing = () => void setTimeout(() => connection.close(), STOP_REQUESTS_MS).unref();
  signal.addEventListener("abort", closing, { once: true });
  try {
    await Promise.all([
      osqueryd?.run(signal),
      ...turns.map(([name, turn]) =>
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
    over.abort();
    await connection.close();
  }
}
