import * as Flags from "@oclif/core/flags";
import { appleEnrollApi } from "../../api/apple-enroll.ts";
import { fullPath } from "../../api/endpoint.ts";
import { enrollSecretsApi } from "../../api/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import {
  appleOptions,
  type DeviceSimulationFlags,
  deviceSimulationFlags,
  windowsOptions,
} from "../../cli/features/simulate-devices.ts";
import { isDumb } from "../../cli/io.ts";
import { durationMs, plural } from "../../cli/output/text.ts";
import { runAppleFleet } from "../../simulator/apple/fleet.ts";
import {
  type AppleProgress,
  type AppleReport,
  isComplete,
  renderAppleProgress,
  renderAppleReport,
} from "../../simulator/apple/report.ts";
import type { Progress, SimulationOptions } from "../../simulator/options.ts";
import { nothingLost, renderProgress, renderReport, type SimulationReport } from "../../simulator/report.ts";
import { runSimulation } from "../../simulator/run.ts";
import { runWindowsFleet } from "../../simulator/windows/fleet.ts";
import {
  isWindowsComplete,
  renderWindowsProgress,
  renderWindowsReport,
  type WindowsProgress,
  type WindowsReport,
} from "../../simulator/windows/report.ts";

/** Without a terminal: seconds until the first line of progress, and the maximum between two lines. */
const FIRST_LINE_S = 1;
const LONGEST_GAP_S = 60;

export default class AgentSimulate extends ClientCommand {
  static override summary = "Run simulated agents or devices that enroll and check in over the real protocol.";
  static override description =
    "The agents have mixed platforms with realistic inventories; the same seed generates the same machines. The command runs until interrupted, or for --duration, then reports requests, errors and latencies. Exit code 0: the server accepted everything that the agents had to deliver. With --mdm apple, simulated Macs, iPhones and iPads enroll in device management, do the commands that they get, and report. Device management of Apple devices has to be turned on (svc mdm apple status). With --mdm windows, simulated Windows hosts enroll with their agents (mdm.windows_enabled_and_configured has to be true), do what they get in their sessions, and report it; the server's URL has to be one that this machine reaches.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --hosts 25 --duration 1m",
    "<%= config.bin %> <%= command.id %> --hosts 25 --managed 0.5 --script-failures 0.1 --install-failures 0.1 --duration 1m",
    "<%= config.bin %> <%= command.id %> --hosts 5000 --scale 0.5 --log-lines 2 --identity-file agents.json",
    "<%= config.bin %> <%= command.id %> --mdm apple --hosts 20 --not-now 0.1 --duration 1m",
    "<%= config.bin %> <%= command.id %> --mdm windows --hosts 20 --command-failures 0.1 --duration 1m",
  ];
  static override endpoints = [enrollSecretsApi.getGlobal, appleEnrollApi.manual];
  static override flags = {
    hosts: Flags.integer({ summary: "Number of agents.", min: 1, max: 200_000, default: 10 }),
    duration: Flags.string({ summary: "How long to run. Default: until interrupted.", helpValue: "10m" }),
    platforms: Flags.string({
      summary: "Only these platforms, e.g. macos,windows,ubuntu,linux.",
      multiple: true,
      delimiter: ",",
    }),
    seed: Flags.integer({ summary: "Seed that determines the generated machines.", default: 1 }),
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
    if (flags.mdm === "windows") return this.simulateWindows(flags);
    if (flags.mdm !== undefined) return this.simulateApple(flags);
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
    const enrollSecret = await this.enrollSecret(flags["enroll-secret-file"]);
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
    const report = await this.simulating<Progress, SimulationReport>(
      plural(flags.hosts, "agent"),
      renderProgress,
      ({ onProgress, signal }) => runSimulation({ ...options, onProgress }, signal),
    );
    if (this.structured) await this.printOne(report);
    else this.log(renderReport(report));
    if (!nothingLost(report))
      throw new CliError("partial", "the server did not accept everything that the agents had to deliver");
  }

  private async simulateApple(
    flags: DeviceSimulationFlags & { "enroll-secret-file": string | undefined },
  ): Promise<void> {
    const { serverUrl, ca, insecure, token } = await this.connection();
    await this.requireToken();
    const secret = await this.enrollSecret(flags["enroll-secret-file"]);
    const options = appleOptions(flags, {
      profile: {
        url: `${serverUrl}${fullPath(appleEnrollApi.manual)}?enroll_secret=${encodeURIComponent(secret)}`,
        headers: { authorization: `Bearer ${await token()}` },
      },
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
    const report = await this.simulating<AppleProgress, AppleReport>(
      plural(flags.hosts, "device"),
      renderAppleProgress,
      ({ onProgress, signal }) => runAppleFleet({ ...options, onProgress }, signal),
    );
    if (this.structured) await this.printOne(report);
    else this.log(renderAppleReport(report));
    if (!isComplete(report)) throw new CliError("partial", "not all devices enrolled and delivered their answers");
  }

  private async simulateWindows(
    flags: DeviceSimulationFlags & { "enroll-secret-file": string | undefined },
  ): Promise<void> {
    const { serverUrl, ca, insecure } = await this.connection();
    const options = windowsOptions(flags, {
      serverUrl,
      enrollSecret: await this.enrollSecret(flags["enroll-secret-file"]),
      tls: { insecure, ...(ca === null ? {} : { ca }) },
    });
    const report = await this.simulating<WindowsProgress, WindowsReport>(
      plural(flags.hosts, "device"),
      renderWindowsProgress,
      ({ onProgress, signal }) => runWindowsFleet({ ...options, onProgress }, signal),
    );
    if (this.structured) await this.printOne(report);
    else this.log(renderWindowsReport(report));
    if (!isWindowsComplete(report))
      throw new CliError("partial", "not all devices enrolled and delivered their answers");
  }

  /** Runs a simulation with progress until it ends or is interrupted. */
  private async simulating<P extends { readonly seconds: number }, R>(
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

  private async enrollSecret(file: string | undefined): Promise<string> {
    if (file !== undefined) {
      const { readFile } = await import("node:fs/promises");
      return (file === "-" ? await this.io.readStdin() : await readFile(file, "utf8")).trim();
    }
    const given = this.io.env.SVC_ENROLL_SECRET;
    if (given) return given;
    const { spec } = await this.call(enrollSecretsApi.getGlobal);
    const secret = spec.secrets[0]?.secret;
    if (secret === undefined) throw usage("the server has no enroll secret", "Create one: svc enroll-secrets add");
    return secret;
  }
}

/** `--managed` without a share means every host. */
const allManaged = (word: string, at: number, words: readonly string[]): string[] =>
  word === "--managed" && !/^[\d.]/.test(words[at + 1] ?? "") ? [word, "1"] : [word];
