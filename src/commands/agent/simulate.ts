import * as Flags from "@oclif/core/flags";
import { androidApi } from "../../api/devices/android.ts";
import { appleEnrollApi } from "../../api/devices/apple-enroll.ts";
import { fullPath } from "../../api/paths.ts";
import { appConfigApi } from "../../api/settings/app-config.ts";
import { enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, failed, usage } from "../../cli/errors.ts";
import { readText } from "../../cli/files/input.ts";
import { isDumb } from "../../cli/io.ts";
import { durationMs } from "../../cli/output/text.ts";
import {
  androidOptions,
  appleOptions,
  type DeviceSimulationFlags,
  deviceSimulationFlags,
  standInOf,
  windowsOptions,
} from "../../cli/topics/agent/simulate-devices.ts";
import { ApiCallError } from "../../client/errors.ts";
import { type AndroidFleet, runAndroidFleet } from "../../simulator/android/fleet.ts";
import { openFolder } from "../../simulator/android/folder.ts";
import { isAndroidComplete, renderAndroidReport } from "../../simulator/android/report.ts";
import { urlOf } from "../../simulator/android/stand-in.ts";
import { runAppleFleet } from "../../simulator/apple/fleet.ts";
import { isComplete, renderAppleReport } from "../../simulator/apple/report.ts";
import { type DeviceProgress, renderDeviceProgress } from "../../simulator/fleet.ts";
import type { Progress, SimulationOptions } from "../../simulator/options.ts";
import { nothingLost, renderProgress, renderReport, type SimulationReport } from "../../simulator/report.ts";
import { runSimulation } from "../../simulator/run.ts";
import { runWindowsFleet } from "../../simulator/windows/fleet.ts";
import { isWindowsComplete, renderWindowsReport } from "../../simulator/windows/report.ts";
import { plural } from "../../text/plural.ts";

/** Without a terminal: seconds until the first line of progress, and the maximum between two lines. */
const FIRST_LINE_S = 1;
const LONGEST_GAP_S = 60;

type DeviceFlags = DeviceSimulationFlags & { readonly "enroll-secret-file": string | undefined };

/** Simulated devices of one platform. */
interface DeviceSimulation<R> {
  run(onProgress: (progress: DeviceProgress) => void, signal: AbortSignal): Promise<R>;
  render(report: R): string;
  /** Whether everything was enrolled and delivered. */
  isComplete(report: R): boolean;
}

export default class AgentSimulate extends ClientCommand {
  static override summary = "Run simulated agents or devices that enroll and check in over the real protocol.";
  static override description =
    "The agents have mixed platforms with realistic inventories; the same seed generates the same machines, which the server takes for the same hosts: give each of two simulations its own --seed. The command runs until interrupted, or for --duration, then reports requests, errors and latencies. Exit code 0: the server accepted everything that the agents had to deliver. With --mdm apple, simulated Macs, iPhones and iPads enroll in device management, carry out commands, and report. Device management of Apple devices has to be turned on (svc mdm apple status; docs/operations.md describes a trial). With --mdm windows, simulated Windows hosts enroll with their agents (mdm.windows_enabled_and_configured has to be true), carry out commands, and report; this machine has to reach the server's URL. With --mdm android, the command simulates the Android Management API for the server, with phones and tablets that enroll, apply policies, carry out commands and report. --stand-in DIR is the folder with the keys of the simulated API, and with the settings to start the server with; the first run makes it.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --hosts 25 --duration 1m",
    "<%= config.bin %> <%= command.id %> --hosts 25 --managed 0.5 --script-failures 0.1 --install-failures 0.1 --duration 1m",
    "<%= config.bin %> <%= command.id %> --hosts 5000 --scale 0.5 --log-lines 2 --identity-file agents.json",
    "<%= config.bin %> <%= command.id %> --mdm apple --hosts 20 --not-now 0.1 --duration 1m",
    "<%= config.bin %> <%= command.id %> --mdm windows --hosts 20 --command-failures 0.1 --duration 1m",
    "<%= config.bin %> <%= command.id %> --mdm android --stand-in ./android --hosts 20 --duration 1m",
  ];
  static override endpoints = [
    enrollSecretsApi.getGlobal,
    appleEnrollApi.manual,
    appConfigApi.get,
    androidApi.get,
    androidApi.signUp,
    androidApi.enrollmentToken,
  ];
  static override flags = {
    hosts: Flags.integer({ summary: "Number of agents.", min: 1, max: 200_000, default: 10 }),
    duration: Flags.string({ summary: "How long to run. Default: until interrupted.", helpValue: "10m" }),
    platforms: Flags.string({
      summary: "Only these platforms, e.g. macos,windows,ubuntu,linux.",
      multiple: true,
      delimiter: ",",
    }),
    seed: Flags.integer({
      summary: "Seed that determines the generated machines; another one for each simulation with the same server.",
      default: 1,
    }),
    scale: Flags.string({ summary: "Factor for all intervals; 0.1 is ten times as fast.", default: "1" }),
    spread: Flags.string({ summary: "Time over which the agents start.", helpValue: "30s" }),
    "software-per-host": Flags.integer({ summary: "Number of software entries per host.", min: 0, max: 10_000 }),
    "log-lines": Flags.string({ summary: "Result lines per host and minute.", default: "0" }),
    "identity-file": Flags.string({
      summary: "File to store node keys in, so that the next run checks in instead of enrolling.",
      helpValue: "FILE",
    }),
    "ledger-file": Flags.string({
      summary: "File to write every acknowledged result line to, to compare with the server's log.",
      helpValue: "FILE",
    }),
    "max-connections": Flags.integer({ summary: "Maximum number of connections; agents then share them.", min: 1 }),
    managed: Flags.string({
      summary:
        "Share of hosts with a managed agent, which pretends to run scripts and to install software: 0.5 is every second host. Without a value: all hosts.",
      default: "0",
    }),
    "script-failures": Flags.string({ summary: "Share of the scripts that fail.", default: "0" }),
    "install-failures": Flags.string({ summary: "Share of the installations of software that fail.", default: "0" }),
    "install-timeouts": Flags.string({
      summary: "Share of the installations of software that never report a result.",
      default: "0",
    }),
    quirks: Flags.boolean({ summary: "Include machines with a missing or dubious serial number, and old agents." }),
    "carve-size": Flags.integer({
      summary: "Number of bytes that a host uploads for a file carve.",
      min: 1,
      helpValue: "65536",
    }),
    "enroll-only": Flags.boolean({
      summary: "Enroll, deliver the first inventory as fast as the server allows, then exit.",
    }),
    ...deviceSimulationFlags,
    "enroll-secret-file": Flags.string({
      summary: "File with the enroll secret. Env: SVC_ENROLL_SECRET. Default: fetched from the server.",
      helpValue: "FILE",
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentSimulate, this.argv.flatMap(allManaged));
    const { serverUrl, ca, insecure } = await this.connection();
    if (flags.mdm === "windows") return this.#simulateWindows(flags);
    if (flags.mdm === "android") return this.#simulateAndroid(flags);
    if (flags.mdm !== undefined) return this.#simulateApple(flags);
    const scale = Number(flags.scale);
    const logLines = Number(flags["log-lines"]);
    if (!(scale > 0)) throw usage(`--scale: ${flags.scale} is not a positive number`);
    if (!(logLines >= 0)) throw usage(`--log-lines: ${flags["log-lines"]} is not a number`);
    const share = (flag: "managed" | "script-failures" | "install-failures" | "install-timeouts") => {
      const value = Number(flags[flag]);
      if (!(value >= 0 && value <= 1)) throw usage(`--${flag}: ${flags[flag]} is not a number from 0 to 1`);
      return value;
    };
    const [managed, scriptFailures] = [share("managed"), share("script-failures")];
    const [installFailures, installTimeouts] = [share("install-failures"), share("install-timeouts")];
    const enrollSecret = await this.#enrollSecret(flags["enroll-secret-file"]);
    const options: SimulationOptions = {
      serverUrl,
      enrollSecret,
      hosts: flags.hosts,
      seed: flags.seed,
      scale,
      logLinesPerMinute: logLines,
      tls: { insecure, ...(ca === null ? {} : { ca }) },
      managed,
      scriptFailures,
      installFailures,
      installTimeouts,
      quirks: flags.quirks,
      ...(flags["carve-size"] === undefined ? {} : { carves: { bytes: flags["carve-size"] } }),
      mode: flags["enroll-only"] ? "enroll" : "run",
      ...(flags.platforms === undefined ? {} : { platforms: flags.platforms }),
      ...(flags.duration === undefined ? {} : { duration: durationMs(flags.duration, "--duration") / 1000 }),
      ...(flags.spread === undefined ? {} : { spread: durationMs(flags.spread, "--spread") / 1000 }),
      ...(flags["software-per-host"] === undefined ? {} : { softwarePerHost: flags["software-per-host"] }),
      ...(flags["identity-file"] === undefined ? {} : { identityFile: flags["identity-file"] }),
      ...(flags["ledger-file"] === undefined ? {} : { ledgerFile: flags["ledger-file"] }),
      ...(flags["max-connections"] === undefined ? {} : { maxConnections: flags["max-connections"] }),
      progressSeconds: 1,
    };
    const report = await this.#simulating<Progress, SimulationReport>(
      plural(flags.hosts, "agent"),
      renderProgress,
      ({ onProgress, signal }) => runSimulation({ ...options, onProgress }, signal),
    );
    if (this.structured) await this.printOne(report);
    else this.log(renderReport(report));
    if (!nothingLost(report))
      throw new CliError("partial", "the server did not accept everything that the agents had to deliver");
  }

  async #simulateApple(flags: DeviceFlags): Promise<void> {
    const { serverUrl, ca, insecure, token } = await this.connection();
    await this.requireToken();
    const secret = await this.#enrollSecret(flags["enroll-secret-file"]);
    const options = appleOptions(flags, {
      profile: {
        url: `${serverUrl}${fullPath(appleEnrollApi.manual)}?enroll_secret=${encodeURIComponent(secret)}`,
        headers: { authorization: `Bearer ${await token()}` },
      },
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
    await this.#simulateDevices(flags, {
      run: (onProgress, signal) => runAppleFleet({ ...options, onProgress }, signal),
      render: renderAppleReport,
      isComplete,
    });
  }

  async #simulateWindows(flags: DeviceFlags): Promise<void> {
    const { serverUrl, ca, insecure } = await this.connection();
    const options = windowsOptions(flags, {
      serverUrl,
      enrollSecret: await this.#enrollSecret(flags["enroll-secret-file"]),
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
    await this.#simulateDevices(flags, {
      run: (onProgress, signal) => runWindowsFleet({ ...options, onProgress }, signal),
      render: renderWindowsReport,
      isComplete: isWindowsComplete,
    });
  }

  async #simulateAndroid(flags: DeviceFlags): Promise<void> {
    const { serverUrl, ca, insecure } = await this.connection();
    const { folder, listen } = standInOf(flags);
    const { keys, isNew, settingsFile } = await openFolder(folder, urlOf(listen.host, listen.port));
    if (isNew)
      return this.log(
        `${folder} was made. Start the server with the settings in it (. ${settingsFile}; svc serve), and run this command again.`,
      );
    const { server_settings } = await this.call(appConfigApi.get);
    const options = androidOptions(flags, {
      keys,
      listen,
      serverUrl,
      ownUrl: server_settings.server_url || serverUrl,
      enrollSecret: await this.#enrollSecret(flags["enroll-secret-file"]),
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
    await this.#simulateDevices(flags, {
      run: (onProgress, signal) =>
        runAndroidFleet({ ...options, onProgress }, (fleet) => this.#signUp(fleet, keys.enterprise), signal),
      render: renderAndroidReport,
      isComplete: isAndroidComplete,
    });
  }

  /** Turns device management of Android on, with the organization of the stand-in, unless that was done before. */
  async #signUp(fleet: Pick<AndroidFleet, "signUp">, enterprise: string): Promise<void> {
    const id = enterprise.replace("enterprises/", "");
    try {
      const { android_enterprise_id: managedId } = await this.call(androidApi.get);
      if (managedId === id) return;
      throw failed(
        `the server manages Android devices with the organization ${managedId}, not with that of the simulation`,
      );
    } catch (error) {
      if (!(error instanceof ApiCallError && error.status === 404)) throw error;
    }
    const { android_enterprise_signup_url: url } = await this.call(androidApi.signUp);
    await fleet.signUp(url);
    this.note(`device management of Android was turned on, with the organization ${id}`);
  }

  async #simulateDevices<R extends object>(flags: DeviceFlags, kind: DeviceSimulation<R>): Promise<void> {
    const report = await this.#simulating<DeviceProgress, R>(
      plural(flags.hosts, "device"),
      renderDeviceProgress,
      ({ onProgress, signal }) => kind.run(onProgress, signal),
    );
    if (this.structured) await this.printOne(report);
    else this.log(kind.render(report));
    if (!kind.isComplete(report)) throw new CliError("partial", "not all devices enrolled and delivered their answers");
  }

  /** Runs a simulation with progress until it ends or is interrupted. */
  async #simulating<P extends { readonly seconds: number }, R>(
    started: string,
    render: (progress: P) => string,
    run: (rest: { onProgress(now: P): void; signal: AbortSignal }) => Promise<R>,
  ): Promise<R> {
    const progress = this.progress(`starting ${started} ...`);
    // Without a terminal, progress is printed as separate lines, at increasing intervals.
    const rewrites = this.io.tty.stderr && !isDumb(this.io);
    let nextLine = FIRST_LINE_S;
    const onProgress = (now: P) => {
      if (rewrites) return progress.update(render(now));
      if (now.seconds < nextLine) return;
      nextLine = Math.min(nextLine * 2, now.seconds + LONGEST_GAP_S);
      this.note(render(now));
    };
    const interrupt = new AbortController();
    const onSignal = () => interrupt.abort();
    process.once("SIGINT", onSignal);
    process.once("SIGTERM", onSignal);
    try {
      return await run({ onProgress, signal: interrupt.signal });
    } finally {
      progress.done();
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    }
  }

  async #enrollSecret(file: string | undefined): Promise<string> {
    if (file !== undefined) {
      return (await readText(this.io, file, "--enroll-secret-file")).trim();
    }
    const fromEnv = this.io.env.SVC_ENROLL_SECRET;
    if (fromEnv) return fromEnv;
    const { spec } = await this.call(enrollSecretsApi.getGlobal);
    const secret = spec.secrets[0]?.secret;
    if (secret === undefined) throw usage("the server has no enroll secret", "Create one: svc enroll-secrets add");
    return secret;
  }
}

/** `--managed` without a share means every host. */
const allManaged = (word: string, at: number, words: readonly string[]): string[] =>
  word === "--managed" && !/^[\d.]/.test(words[at + 1] ?? "") ? [word, "1"] : [word];
