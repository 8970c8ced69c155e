// A fleet of simulated Windows hosts for one server: devices with their agents.
import {
  checkFleet,
  type DeviceProgress,
  FleetWork,
  inParallel,
  type RunOptions,
  runFleet,
  sharedKeys,
  withDefaults,
} from "../fleet.ts";
import type { Machine } from "../inventory/machine.ts";
import { Web } from "../web.ts";
import { type EnrolledDevice, machineOf, WindowsAgents } from "./agent.ts";
import { WindowsDevice } from "./device.ts";
import { type EnrollmentFacts, userToken } from "./enrollment.ts";
import { type WindowsReport, windowsReportOf } from "./report.ts";
import { WindowsStats } from "./stats.ts";

export interface WindowsOptions {
  readonly devices: number;
  readonly serverUrl: string;
  readonly enrollSecret: string;
  /** A seed always creates the same devices. */
  readonly seed?: number;
  /** The share of commands that a device postpones. */
  readonly notNow?: number;
  /** The share of commands that fail. */
  readonly errors?: number;
  /** The share of devices that authenticate with their certificate where connections are encrypted; others use digests. */
  readonly certificates?: number;
  /** How often a device begins a session, and its agent reports, in seconds; 0: only when it is asked to. */
  readonly pollSeconds?: number;
  readonly softwarePerHost?: number;
  /** How many devices enroll at a time. */
  readonly concurrency?: number;
  readonly maxConnections?: number;
  /** How many RSA keys the devices share: making one takes longer than everything else together. */
  readonly keys?: number;
  readonly tls?: { readonly ca?: string; readonly insecure?: boolean };
}

export type WindowsRunOptions = WindowsOptions & RunOptions;

const defaults = {
  seed: 1,
  notNow: 0,
  errors: 0,
  certificates: 0.5,
  pollSeconds: 60,
  softwarePerHost: 20,
  concurrency: 32,
  maxConnections: 256,
  keys: 16,
};

const DISCOVERY = "/api/mdm/windows/discovery";

interface WindowsHost {
  readonly machine: Machine;
  readonly agents: WindowsAgents;
  readonly device: WindowsDevice;
}

export class WindowsFleet {
  readonly stats = new WindowsStats();
  readonly hosts: readonly WindowsHost[];
  readonly #options: WindowsOptions & typeof defaults;
  readonly #web: Web;
  readonly #work = new FleetWork();
  #enrollSeconds = 0;

  constructor(options: WindowsOptions) {
    this.#options = withDefaults(options, defaults);
    const { devices, seed, notNow, errors, certificates, maxConnections, softwarePerHost, tls } = this.#options;
    checkFleet(devices, { notNow, errors, certificates });
    const trust = tls === undefined ? {} : { tls };
    this.#web = new Web({ maxConnections, ...trust });
    const world = { web: this.#web, stats: this.stats, seed, notNow, errors, certificates, ...trust };
    const server = { web: this.#web, url: this.#options.serverUrl, enrollSecret: this.#options.enrollSecret };
    this.hosts = Array.from({ length: devices }, (_, i) => {
      const machine = machineOf(seed, i, softwarePerHost);
      const device = new WindowsDevice(world, factsOf(machine), i);
      return { machine, device, agents: new WindowsAgents(server, machine) };
    });
  }

  /** Enrolls every host once, `concurrency` at a time: its agents, then its device. */
  async enrollAll(signal?: AbortSignal): Promise<void> {
    const from = performance.now();
    const { keys: count, concurrency, serverUrl } = this.#options;
    const keys = await sharedKeys(Math.min(count, this.hosts.length));
    await inParallel(this.hosts, concurrency, async ({ agents, device }, index) => {
      if (signal?.aborted || this.#work.stopping) return;
      try {
        const key = await this.stats.timed("agent", () => agents.enroll());
        await device.enroll(`${serverUrl}${DISCOVERY}`, userToken(key), keys[index % keys.length]!);
      } catch {
        // Failures are counted, and the report shows that the device has not enrolled.
      }
    });
    this.#enrollSeconds = (performance.now() - from) / 1000;
  }

  /** Lets every enrolled device connect, now and then at its interval. */
  start(): void {
    const { pollSeconds } = this.#options;
    for (const host of this.hosts) {
      const again = async () => {
        await this.#connect(host);
        if (pollSeconds > 0 && host.device.isEnrolled) this.#work.after(pollSeconds, again);
      };
      if (host.device.isEnrolled) this.#work.run(again);
    }
  }

  /** Lets every device take what waits, and its agent report. */
  async connectAll(): Promise<void> {
    await inParallel(this.hosts, this.#options.concurrency, (host) => this.#connect(host));
  }

  report(): WindowsReport {
    return windowsReportOf(this.stats, {
      devices: this.hosts.length,
      seconds: this.#work.seconds,
      enrollSeconds: this.#enrollSeconds,
      unsentAnswers: this.hosts.reduce((sum, { device }) => sum + device.unsent, 0),
    });
  }

  progress(): DeviceProgress {
    const { enrolled, count, errors, done } = this.stats;
    return {
      seconds: this.#work.seconds,
      devices: this.hosts.length,
      enrolled,
      requests: count,
      errors,
      commands: done,
    };
  }

  /** Delivers answers that are on their way, and closes the connections. */
  async stop(): Promise<WindowsReport> {
    await this.#work.stop();
    await Promise.all(this.hosts.map(({ device }) => device.idle()));
    const report = this.report();
    await Promise.all(this.hosts.map(({ device }) => device.close()));
    await this.#web.close();
    return report;
  }

  #enrolled({ providerId }: WindowsDevice): EnrolledDevice | null {
    return providerId === null ? null : { providerId, discoveryUrl: `${this.#options.serverUrl}${DISCOVERY}` };
  }

  async #connect({ device, agents }: WindowsHost): Promise<void> {
    if (this.#work.stopping || !device.isEnrolled) return;
    await device.connect();
    try {
      await this.stats.timed("queries", () => agents.report(device.nodes, this.#enrolled(device)));
      this.stats.reports++;
    } catch {
      // Failures are counted. The agent reports again later.
    }
  }
}

function factsOf(machine: Machine): EnrollmentFacts {
  const random = machine.random(80);
  return {
    DeviceID: random.uuid().toUpperCase(),
    HWDevID: random.hex(64).toUpperCase(),
    DeviceName: machine.computerName,
    EnrollmentType: "Device",
    DeviceType: "CIMClient_Windows",
    OSVersion: "10.0.22631.4460",
    SerialNumber: machine.serial,
  };
}

/** Runs a fleet until its duration is over or the signal aborts. */
export const runWindowsFleet = (options: WindowsRunOptions, signal?: AbortSignal): Promise<WindowsReport> =>
  runFleet(new WindowsFleet(options), options, signal);
