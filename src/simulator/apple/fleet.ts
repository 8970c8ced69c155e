// A fleet of simulated Apple devices for one server.
import type { KeyObject } from "node:crypto";
import { newKey } from "../../pki/x509.ts";
import { ended } from "../ended.ts";
import { Web } from "../web.ts";
import { AppleDevice } from "./device.ts";
import { readEnrollmentProfile } from "./enrollment-profile.ts";
import { type AppleFamily, appleFamilies, factsOf } from "./facts.ts";
import { Authorities } from "./identity.ts";
import { type PushService, startPushService } from "./push-service.ts";
import { type AppleProgress, type AppleReport, appleReportOf } from "./report.ts";
import { AppleStats } from "./stats.ts";

/** The address of the enrollment profile; each device fetches its own. */
export interface ProfileSource {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AppleOptions {
  readonly devices: number;
  /** The same seed always creates the same devices. */
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

export interface AppleRunOptions extends AppleOptions {
  readonly profile: ProfileSource;
  /** Where the server's pushes arrive. */
  readonly push?: { readonly host: string; readonly port: number };
  /** The duration of the run in seconds. Null: until the devices have enrolled. */
  readonly duration?: number | null;
  readonly onProgress?: (progress: AppleProgress) => void;
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
  private readonly options: AppleOptions & typeof defaults;
  private readonly web: Web;
  private readonly byToken = new Map<string, AppleDevice>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly startedAt = performance.now();
  private enrollSeconds = 0;
  private pushService: PushService | null = null;
  private stopping = false;

  constructor(options: AppleOptions) {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    this.options = { ...defaults, ...(given as unknown as AppleOptions) };
    const { devices, seed, families, notNow, errors, maxConnections, tls } = this.options;
    if (!Number.isInteger(devices) || devices < 1) throw new Error("devices must be a whole number of at least 1");
    for (const [name, share] of Object.entries({ notNow, errors }))
      if (!(share >= 0 && share <= 1)) throw new Error(`${name} is a share from 0 to 1`);
    this.web = new Web({ maxConnections, ...(tls === undefined ? {} : { tls }) });
    const authorities = new Authorities(this.web);
    const world = { web: this.web, authorities, stats: this.stats, seed, notNow, errors };
    this.devices = Array.from({ length: devices }, (_, i) => new AppleDevice(world, factsOf(seed, i, families), i));
    for (const device of this.devices) this.byToken.set(device.facts.token.toString("hex"), device);
  }

  /** Starts to receive pushes. Returns the address that the server has to use. */
  async listen(push: { readonly host: string; readonly port: number }): Promise<string> {
    this.pushService = await startPushService({ ...push, wake: (token, magic) => this.wake(token, magic) });
    return this.pushService.url;
  }

  /** Enrolls every device once, `concurrency` at a time. */
  async enrollAll(source: ProfileSource, signal?: AbortSignal): Promise<void> {
    const from = performance.now();
    const keys: KeyObject[] = await Promise.all(
      Array.from({ length: Math.min(this.options.keys, this.devices.length) }, () => newKey()),
    );
    const waiting = this.devices.entries();
    const worker = async () => {
      for (const [index, device] of waiting) {
        if (signal?.aborted || this.stopping) return;
        await this.enroll(device, source, keys[index % keys.length]!);
      }
    };
    await Promise.all(Array.from({ length: this.options.concurrency }, worker));
    this.enrollSeconds = (performance.now() - from) / 1000;
  }

  /** Lets every enrolled device ask for commands, now and then at its interval. */
  start(): void {
    for (const device of this.devices) if (device.isEnrolled) this.keepConnecting(device);
  }

  /** Lets every device take what waits. */
  async connectAll(): Promise<void> {
    const waiting = this.devices.values();
    const worker = async () => {
      for (const device of waiting) if (device.isEnrolled) await device.connect();
    };
    await Promise.all(Array.from({ length: this.options.concurrency }, worker));
  }

  report(): AppleReport {
    return appleReportOf(this.stats, {
      devices: this.devices.length,
      seconds: (performance.now() - this.startedAt) / 1000,
      enrollSeconds: this.enrollSeconds,
      unsentAnswers: this.devices.filter(({ hasUnsent }) => hasUnsent).length,
    });
  }

  progress(): AppleProgress {
    const { enrolled, count, errors, acknowledged } = this.stats;
    return {
      seconds: (performance.now() - this.startedAt) / 1000,
      devices: this.devices.length,
      enrolled,
      requests: count,
      errors,
      commands: acknowledged,
    };
  }

  /** Delivers answers that are on their way, and closes the connections. */
  async stop(): Promise<AppleReport> {
    this.stopping = true;
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all(this.devices.map((device) => device.idle()));
    await this.pushService?.stop();
    const report = this.report();
    await this.web.close();
    return report;
  }

  private async enroll(device: AppleDevice, { url, headers = {} }: ProfileSource, key: KeyObject): Promise<void> {
    const { awaitsConfiguration } = this.options;
    try {
      const profile = await this.stats.timed("profile", async () => {
        const reply = await this.web.call({ method: "GET", url, headers });
        if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.body.toString("utf8", 0, 160)}`);
        return readEnrollmentProfile(reply.body);
      });
      await device.enroll(profile, key, { awaitsConfiguration });
    } catch {
      // It is counted, and the report shows that the device has not enrolled.
    }
  }

  private wake(token: string, magic: string): boolean {
    const device = this.byToken.get(token);
    if (device === undefined || device.facts.magic !== magic || device.hasLeft) return false;
    this.stats.pushes++;
    // A push may be faster than the reply to the message that has enrolled the device: `start` lets it connect.
    if (device.isEnrolled) void this.connect(device);
    return true;
  }

  private async connect(device: AppleDevice): Promise<void> {
    if (this.stopping) return;
    await device.connect();
    if (device.postpones) this.after(this.options.postponedSeconds, () => this.connect(device));
  }

  private keepConnecting(device: AppleDevice): void {
    const { pollSeconds } = this.options;
    const again = async () => {
      await this.connect(device);
      if (pollSeconds > 0 && device.isEnrolled) this.after(pollSeconds, again);
    };
    void again();
  }

  private after(seconds: number, work: () => Promise<void>): void {
    if (this.stopping) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void work();
    }, seconds * 1000);
    this.timers.add(timer);
  }
}

/** Runs a fleet until its duration is over or the signal aborts. */
export async function runAppleFleet(options: AppleRunOptions, signal?: AbortSignal): Promise<AppleReport> {
  const fleet = new AppleFleet(options);
  const shown = options.onProgress;
  const timer = shown && setInterval(() => shown(fleet.progress()), 1000);
  try {
    if (options.push) await fleet.listen(options.push);
    await fleet.enrollAll(options.profile, signal);
    if (options.duration !== null) {
      fleet.start();
      await ended(options.duration, signal);
    }
    return await fleet.stop();
  } finally {
    clearInterval(timer);
  }
}
