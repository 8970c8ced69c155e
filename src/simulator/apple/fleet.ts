// A fleet of simulated Apple devices for one server.
import type { KeyObject } from "node:crypto";
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
import { Authorities } from "../scep.ts";
import { Web } from "../web.ts";
import { AppleDevice } from "./device.ts";
import { readEnrollmentProfile } from "./enrollment-profile.ts";
import { type AppleFamily, appleFamilies, factsOf } from "./facts.ts";
import { type PushService, startPushService } from "./push-service.ts";
import { type AppleReport, appleReportOf } from "./report.ts";
import { AppleStats } from "./stats.ts";

/** The address of the enrollment profile; each device fetches its own. */
export interface ProfileSource {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AppleOptions {
  readonly devices: number;
  /** A seed always creates the same devices. */
  readonly seed?: number;
  readonly families?: readonly AppleFamily[];
  /** The share of commands that a device postpones. */
  readonly notNow?: number;
  /** The share of commands that fail. */
  readonly errors?: number;
  /** The devices wait in their setup assistant after they have enrolled. */
  readonly awaitsConfiguration?: boolean;
  /** How often a device asks by itself, in seconds; 0: only when it was asked to. */
  readonly pollSeconds?: number;
  /** How soon a device that has postponed a command asks again, in seconds. */
  readonly postponedSeconds?: number;
  /** How many devices enroll at a time. */
  readonly concurrency?: number;
  readonly maxConnections?: number;
  /** How many RSA keys the devices share: making one takes longer than everything else together. */
  readonly keys?: number;
  readonly tls?: { readonly ca?: string; readonly insecure?: boolean };
}

export interface AppleRunOptions extends AppleOptions, RunOptions {
  readonly profile: ProfileSource;
  /** Where the server's pushes arrive. */
  readonly push?: { readonly host: string; readonly port: number };
}

const defaults = {
  seed: 1,
  families: appleFamilies as readonly AppleFamily[],
  notNow: 0,
  errors: 0,
  awaitsConfiguration: false,
  pollSeconds: 60,
  postponedSeconds: 2,
  concurrency: 32,
  maxConnections: 256,
  keys: 16,
};

export class AppleFleet {
  readonly stats = new AppleStats();
  readonly devices: AppleDevice[];
  readonly #options: AppleOptions & typeof defaults;
  readonly #web: Web;
  readonly #byToken = new Map<string, AppleDevice>();
  readonly #work = new FleetWork();
  #enrollSeconds = 0;
  #pushService: PushService | null = null;
  #keys: Promise<readonly KeyObject[]> | null = null;

  constructor(options: AppleOptions) {
    this.#options = withDefaults(options, defaults);
    const { devices, seed, families, notNow, errors, maxConnections, tls } = this.#options;
    checkFleet(devices, { notNow, errors });
    this.#web = new Web({ maxConnections, ...(tls === undefined ? {} : { tls }) });
    const authorities = new Authorities(this.#web);
    const world = { web: this.#web, authorities, stats: this.stats, seed, notNow, errors };
    this.devices = Array.from({ length: devices }, (_, i) => new AppleDevice(world, factsOf(seed, i, families), i));
    for (const device of this.devices) this.#byToken.set(device.facts.token.toString("hex"), device);
  }

  /** Starts to receive pushes. Returns the address that the server has to use. */
  async listen(push: { readonly host: string; readonly port: number }): Promise<string> {
    this.#pushService = await startPushService({ ...push, wake: (token, magic) => this.#wake(token, magic) });
    return this.#pushService.url;
  }

  /** Makes the keys that the devices share, which takes seconds. Otherwise, `enrollAll` does it. */
  async prepare(): Promise<void> {
    await this.#keysOfDevices();
  }

  /** Enrolls every device once, `concurrency` at a time. */
  async enrollAll(source: ProfileSource, signal?: AbortSignal): Promise<void> {
    const keys = await this.#keysOfDevices();
    const from = performance.now();
    await inParallel(this.devices, this.#options.concurrency, async (device, index) => {
      if (signal?.aborted || this.#work.stopping) return;
      await this.#enroll(device, source, keys[index % keys.length]!);
    });
    this.#enrollSeconds = (performance.now() - from) / 1000;
  }

  /** Lets every enrolled device ask for commands, now and then at its interval. */
  start(): void {
    for (const device of this.devices) if (device.isEnrolled) this.#keepConnecting(device);
  }

  /** Lets every device take what waits. */
  async connectAll(): Promise<void> {
    await inParallel(this.devices, this.#options.concurrency, async (device) => {
      if (device.isEnrolled) await device.connect();
    });
  }

  report(): AppleReport {
    return appleReportOf(this.stats, {
      devices: this.devices.length,
      seconds: this.#work.seconds,
      enrollSeconds: this.#enrollSeconds,
      unsentAnswers: this.devices.filter(({ hasUnsent }) => hasUnsent).length,
    });
  }

  progress(): DeviceProgress {
    const { enrolled, count, errors, acknowledged } = this.stats;
    return {
      seconds: this.#work.seconds,
      devices: this.devices.length,
      enrolled,
      requests: count,
      errors,
      commands: acknowledged,
    };
  }

  /** Delivers answers that are on their way, and closes the connections. */
  async stop(): Promise<AppleReport> {
    await this.#work.stop();
    await Promise.all(this.devices.map((device) => device.idle()));
    await this.#pushService?.stop();
    const report = this.report();
    await this.#web.close();
    return report;
  }

  #keysOfDevices(): Promise<readonly KeyObject[]> {
    this.#keys ??= sharedKeys(Math.min(this.#options.keys, this.devices.length));
    return this.#keys;
  }

  async #enroll(device: AppleDevice, { url, headers = {} }: ProfileSource, key: KeyObject): Promise<void> {
    const { awaitsConfiguration } = this.#options;
    try {
      const profile = await this.stats.timed("profile", async () => {
        const reply = await this.#web.call({ method: "GET", url, headers });
        if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.body.toString("utf8", 0, 4096)}`);
        return readEnrollmentProfile(reply.body);
      });
      await device.enroll(profile, key, { awaitsConfiguration });
    } catch {
      // Failures are counted, and the report shows that the device has not enrolled.
    }
  }

  #wake(token: string, magic: string): boolean {
    const device = this.#byToken.get(token);
    if (device === undefined || device.facts.magic !== magic || device.hasLeft) return false;
    this.stats.pushes++;
    // A push may be faster than the reply to the message that has enrolled the device: `start` lets it connect.
    if (device.isEnrolled) this.#work.run(() => this.#connect(device));
    return true;
  }

  async #connect(device: AppleDevice): Promise<void> {
    if (this.#work.stopping) return;
    await device.connect();
    if (device.postpones) this.#work.after(this.#options.postponedSeconds, () => this.#connect(device));
  }

  #keepConnecting(device: AppleDevice): void {
    const { pollSeconds } = this.#options;
    const again = async () => {
      await this.#connect(device);
      if (pollSeconds > 0 && device.isEnrolled) this.#work.after(pollSeconds, again);
    };
    this.#work.run(again);
  }
}

/** Runs a fleet until its duration is over or the signal aborts. */
export async function runAppleFleet(options: AppleRunOptions, signal?: AbortSignal): Promise<AppleReport> {
  const fleet = new AppleFleet(options);
  if (options.push) await fleet.listen(options.push);
  const enrollAll = (aborted?: AbortSignal) => fleet.enrollAll(options.profile, aborted);
  const parts = { start: () => fleet.start(), progress: () => fleet.progress(), stop: () => fleet.stop() };
  return runFleet({ ...parts, enrollAll }, options, signal);
}
