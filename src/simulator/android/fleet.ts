// A fleet of simulated Android devices, with the stand-in of the vendor by which the server manages them.

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
import { mix, Random } from "../random.ts";
import { type Trust, Web } from "../web.ts";
import { AndroidDevice } from "./device.ts";
import { factsOf } from "./facts.ts";
import type { StandInKeys } from "./folder.ts";
import { Messages } from "./messages.ts";
import { type AndroidReport, androidReportOf } from "./report.ts";
import { type EnrollmentToken, StandIn } from "./stand-in.ts";
import { AndroidStats } from "./stats.ts";
import type { DeviceWorld } from "./world.ts";

export interface AndroidOptions {
  readonly devices: number;
  readonly keys: StandInKeys;
  /** Where the stand-in listens; port 0: any free port. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Where the server is reached. */
  readonly serverUrl: string;
  /** What the server calls itself (`server_settings.server_url`): its pushes are signed for this address. */
  readonly ownUrl: string;
  readonly enrollSecret: string;
  /** A seed always creates the same devices. */
  readonly seed?: number;
  /** The share of devices that belong to their users. */
  readonly personal?: number;
  readonly notNow?: number;
  readonly errors?: number;
  /** The share of messages that arrive twice. */
  readonly repeats?: number;
  /** How often a device reports by itself, in seconds; 0: only when something has changed. */
  readonly pollSeconds?: number;
  readonly postponedSeconds?: number;
  readonly reactionSeconds?: number;
  /** How many devices enroll at a time. */
  readonly concurrency?: number;
  readonly maxConnections?: number;
  readonly tls?: Trust;
  /** The time of the vendor, in milliseconds. */
  readonly now?: () => number;
}

const defaults = {
  seed: 1,
  personal: 0.3,
  notNow: 0,
  errors: 0,
  repeats: 0.01,
  pollSeconds: 60,
  postponedSeconds: 2,
  reactionSeconds: 0.5,
  concurrency: 32,
  maxConnections: 64,
  now: () => Date.now(),
};

const PUSHES = "/api/v1/svc/android_enterprise/pubsub";
const TOKENS = "/api/v1/svc/android_enterprise/enrollment_token";
/** How long messages that are on their way are waited for at the end. */
const LAST_SECONDS = 30;
/** How many keys the devices share for their certificates. */
const SHARED_KEYS = 8;

/** Returns one of the keys after the other. They are made when the first one is needed. */
function sharing(count: number): DeviceWorld["newKey"] {
  let keys: Promise<KeyObject[]> | null = null;
  let next = 0;
  return async () => {
    keys ??= sharedKeys(count);
    return (await keys)[next++ % count]!;
  };
}

export class AndroidFleet {
  readonly stats = new AndroidStats();
  readonly devices: readonly AndroidDevice[];
  readonly standIn: StandIn;
  readonly #options: AndroidOptions & typeof defaults;
  readonly #web: Web;
  readonly #messages: Messages;
  readonly #work = new FleetWork();
  readonly #devicesByName: ReadonlyMap<string, AndroidDevice>;
  #enrollSeconds = 0;

  constructor(options: AndroidOptions) {
    this.#options = withDefaults(options, defaults);
    const { devices, keys, seed, personal, notNow, errors, repeats, maxConnections, tls } = this.#options;
    checkFleet(devices, { personal, notNow, errors, repeats });
    this.#web = new Web({ maxConnections, ...(tls === undefined ? {} : { tls }) });
    this.#messages = this.#newMessages();
    this.standIn = this.#newStandIn();
    const world = this.#newWorld();
    this.devices = Array.from(
      { length: devices },
      (_, i) => new AndroidDevice(world, keys.enterprise, factsOf(seed, i, personal), i),
    );
    this.#devicesByName = new Map(this.devices.map((device) => [device.name, device]));
  }

  /** Starts the stand-in. Returns its address. */
  listen(): Promise<string> {
    return this.standIn.listen(this.#options.listen);
  }

  /** Ends the sign-up that the server has started, as the admin's browser does. `url`: the vendor's page. */
  async signUp(url: string): Promise<void> {
    const callback = new URL(new URL(url).searchParams.get("callbackUrl") ?? url);
    const query = new URLSearchParams({ enterpriseToken: this.#options.keys.token });
    const address = `${this.#options.serverUrl}${callback.pathname}?${query}`;
    const { status, body } = await this.#web.call({ method: "GET", url: address });
    if (status !== 200) throw new Error(`the sign-up failed with status ${status}: ${body.toString("utf8", 0, 300)}`);
  }

  /** Enrolls every device once, with one token for those of users and one for the others. */
  async enrollAll(signal?: AbortSignal): Promise<void> {
    const from = performance.now();
    const tokens = new Map<boolean, EnrollmentToken | null>();
    for (const isPersonal of new Set(this.devices.map(({ facts }) => facts.isPersonal)))
      tokens.set(isPersonal, await this.#newToken(isPersonal).catch(() => null));
    await inParallel(this.devices, this.#options.concurrency, async (device) => {
      const token = tokens.get(device.facts.isPersonal);
      if (!token || signal?.aborted || this.#work.stopping) return;
      await device.enroll(token);
    });
    this.#enrollSeconds = (performance.now() - from) / 1000;
  }

  /** Lets every enrolled device report at its interval. */
  start(): void {
    const { pollSeconds, seed } = this.#options;
    if (pollSeconds === 0) return;
    const random = new Random(mix(seed, 0, 66));
    for (const device of this.devices) {
      const again = async () => {
        if (device.isEnrolled) await device.report();
        this.#work.after(pollSeconds, again);
      };
      this.#work.after(random.next() * pollSeconds, again);
    }
  }

  report(): AndroidReport {
    return androidReportOf(this.stats, {
      devices: this.devices.length,
      seconds: this.#work.seconds,
      enrollSeconds: this.#enrollSeconds,
      unsentMessages: this.#messages.undelivered,
      apiRequests: this.standIn.requests,
    });
  }

  progress(): DeviceProgress {
    const { enrolled, count, errors, done } = this.stats;
    const { seconds } = this.#work;
    return { seconds, devices: this.devices.length, enrolled, requests: count, errors, commands: done };
  }

  async stop(): Promise<AndroidReport> {
    await this.#messages.stop(LAST_SECONDS, this.#work.stop());
    const report = this.report();
    await this.standIn.stop();
    await this.#web.close();
    return report;
  }

  async #newToken(isPersonal: boolean): Promise<EnrollmentToken> {
    const { serverUrl, enrollSecret } = this.#options;
    const query = new URLSearchParams({ enroll_secret: enrollSecret, fully_managed: String(!isPersonal) });
    return this.stats.timed("token", async () => {
      const { status, body } = await this.#web.call({ method: "GET", url: `${serverUrl}${TOKENS}?${query}` });
      if (status !== 200) throw new Error(`status ${status}: ${body.toString("utf8", 0, 300)}`);
      const { android_enrollment_token: value } = JSON.parse(body.toString()) as { android_enrollment_token: string };
      const token = this.standIn.tokenOf(value);
      if (token === null) throw new Error("the server's token is not of the simulation: another service is set");
      return token;
    });
  }

  #newMessages(): Messages {
    const { serverUrl, ownUrl, keys, seed, now, repeats } = this.#options;
    const random = new Random(mix(seed, 0, 55));
    return new Messages({
      web: this.#web,
      stats: this.stats,
      url: `${serverUrl}${PUSHES}?token=${encodeURIComponent(keys.token)}`,
      audience: `${ownUrl.replace(/\/+$/, "")}${PUSHES}`,
      email: keys.email,
      signer: keys.signer,
      now,
      repeats: () => random.chance(repeats),
    });
  }

  #newStandIn(): StandIn {
    const { keys, now } = this.#options;
    return new StandIn(
      keys,
      {
        describe: (name) => this.#named(name)?.describe() ?? null,
        policyChanged: (policyName) => {
          for (const device of this.devices)
            if (device.policyName === policyName && device.isEnrolled) device.applySoon();
        },
        setPolicy: (name, policyName) => {
          const device = this.#named(name);
          if (!device) return;
          device.policyName = policyName;
          device.applySoon();
        },
        perform: (name, operation, command) => this.#named(name)?.perform(operation, command),
        remove: (name) => this.#named(name)?.remove(),
      },
      now,
    );
  }

  #newWorld(): DeviceWorld {
    const { devices, seed, notNow, errors, postponedSeconds, reactionSeconds, serverUrl, now } = this.#options;
    return {
      standIn: this.standIn,
      web: this.#web,
      serverUrl,
      newKey: sharing(Math.min(devices, SHARED_KEYS)),
      messages: this.#messages,
      stats: this.stats,
      work: this.#work,
      now,
      seed,
      notNow,
      errors,
      postponedSeconds,
      reactionSeconds,
    };
  }

  /** The device of this name, unless it has left. */
  #named(name: string): AndroidDevice | undefined {
    const device = this.#devicesByName.get(name);
    return device?.hasLeft ? undefined : device;
  }
}

/** Starts the stand-in, calls `ready`, and runs the fleet until its duration is over or the signal aborts. */
export async function runAndroidFleet(
  options: AndroidOptions & RunOptions,
  ready: (fleet: AndroidFleet) => Promise<void>,
  signal?: AbortSignal,
): Promise<AndroidReport> {
  const fleet = new AndroidFleet(options);
  await fleet.listen();
  try {
    await ready(fleet);
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return runFleet(fleet, options, signal);
}
