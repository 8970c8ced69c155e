// What fleets of simulated devices share: keys, parallel enrollment, timers, and a run from its start to its report.
import type { KeyObject } from "node:crypto";
import { newKey } from "../pki/x509.ts";
import { ended } from "./ended.ts";
import { rounded } from "./request-stats.ts";

export interface DeviceProgress {
  readonly seconds: number;
  readonly devices: number;
  readonly enrolled: number;
  readonly requests: number;
  readonly errors: number;
  readonly commands: number;
}

/** One line for a terminal or a log. */
export const renderDeviceProgress = (now: DeviceProgress): string =>
  `${now.seconds.toFixed(0)} s  ${now.enrolled}/${now.devices} enrolled  ${now.commands} commands done  ${now.requests} requests  ${now.errors} errors`;

export interface RunOptions {
  /** The duration of the run in seconds. Null: until the devices have enrolled. */
  readonly duration?: number | null;
  readonly onProgress?: (progress: DeviceProgress) => void;
}

interface Fleet<Report> {
  /** Enrolls every device once. */
  enrollAll(signal?: AbortSignal): Promise<void>;
  /** Lets the enrolled devices live. */
  start(): void;
  progress(): DeviceProgress;
  /** Delivers answers that are on their way, and closes the connections. */
  stop(): Promise<Report>;
}

/** Runs a fleet until its duration is over or the signal aborts. */
export async function runFleet<Report>(
  fleet: Fleet<Report>,
  { duration, onProgress }: RunOptions,
  signal?: AbortSignal,
): Promise<Report> {
  const timer = onProgress && setInterval(() => onProgress(fleet.progress()), 1000);
  try {
    await fleet.enrollAll(signal);
    if (duration !== null) {
      fleet.start();
      await ended(duration, signal);
    }
    return await fleet.stop();
  } finally {
    clearInterval(timer);
  }
}

/** Options that are not given, or undefined, have their defaults. */
export function withDefaults<O extends object, D extends object>(options: O, defaults: D): O & D {
  const presentOptions = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...defaults, ...(presentOptions as O) };
}

/** Throws an error that names the option which is wrong. */
export function checkFleet(devices: number, shares: Readonly<Record<string, number>>): void {
  if (!Number.isInteger(devices) || devices < 1) throw new Error("devices must be a whole number of at least 1");
  for (const [name, share] of Object.entries(shares))
    if (!(share >= 0 && share <= 1)) throw new Error(`${name} is a share from 0 to 1`);
}

/** RSA keys that devices share: making one takes longer than everything else that a device does. */
export const sharedKeys = (count: number): Promise<KeyObject[]> =>
  Promise.all(Array.from({ length: count }, () => newKey()));

/** Calls `work` with each item and its number, at most `concurrency` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) await work(item, index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Work of a fleet that waits or runs. */
export class FleetWork {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #busy = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  stopping = false;

  /** Since the fleet was made. */
  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }

  after(seconds: number, work: () => Promise<void>): void {
    if (this.stopping) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.run(work);
    }, seconds * 1000);
    this.#timers.add(timer);
  }

  run(work: () => Promise<void>): void {
    const running = work().finally(() => this.#busy.delete(running));
    this.#busy.add(running);
  }

  /** Drops what waits, and resolves when nothing runs. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }
}

/** How many per second, of what took this long. */
export const perSecond = (count: number, seconds: number): number => (seconds > 0 ? rounded(count / seconds) : 0);
