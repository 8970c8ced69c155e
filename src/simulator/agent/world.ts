import type { Ledger } from "../ledger.ts";
import { type Endpoint, PATHS, type Stats } from "../stats.ts";
import type { Wheel } from "../wheel.ts";
import type { Transport } from "../wire/transport.ts";

export type CarveOptions = {
  /** The size of the archive. */
  bytes?: number;
  blockSize?: number;
  /**
   * A simulated fault: `size` declares more bytes than are sent, `repeat` sends every block twice as after a lost
   * reply, `abort` stops in the middle, `order` sends every second block before the first.
   */
  fault?: "size" | "repeat" | "abort" | "order";
};

export type AgentSettings = {
  enrollSecret: string;
  /** The kind of identifier with which agents enroll. */
  hostIdentifier: "uuid" | "hostname" | "instance";
  /** Attempts per series of enrollments. 0 means unlimited. */
  enrollAttempts: number;
  /** A factor for all intervals of the agents. */
  scale: number;
  logLinesPerMinute: number;
  statusLinesPerHour: number;
  /** Initial values of the agents' flags. Configuration options take precedence. */
  flags: Readonly<Record<string, string>>;
  carves?: CarveOptions | undefined;
  /** The share of scripts that fail on managed agents. */
  scriptFailures: number;
  /** The shares of installations that fail on managed agents, and of those that never report a result. */
  installFailures: number;
  installTimeouts: number;
};

export const DEFAULT_FLAGS: Readonly<Record<string, string>> = {
  config_plugin: "tls",
  config_refresh: "60",
  config_accelerated_refresh: "60",
  disable_distributed: "false",
  distributed_interval: "10",
  distributed_plugin: "tls",
  logger_event_type: "true",
  logger_min_status: "1",
  logger_plugin: "tls",
  logger_snapshot_event_type: "false",
  logger_tls_backoff_max: "3600",
  logger_tls_compress: "true",
  logger_tls_max_lines: "1024",
  logger_tls_period: "10",
  pack_delimiter: "/",
  schedule_epoch: "0",
  schedule_splay_percent: "10",
};

/** Shared by all agents of a run: time, transport and counters. */
export class World {
  readonly wheel: Wheel;
  readonly transport: Transport;
  readonly stats: Stats;
  readonly settings: AgentSettings;
  readonly ledger: Ledger | null;
  readonly runId: string;
  readonly wallClock: () => number;
  rateFactor = 1;
  paused = false;
  stopping = false;
  readonly #paths: Record<Endpoint, string>;
  readonly #sleepers = new Set<() => void>();
  readonly #fieldsByVersion = new Map<string, string>();

  constructor(parts: {
    wheel: Wheel;
    transport: Transport;
    stats: Stats;
    settings: AgentSettings;
    ledger: Ledger | null;
    runId: string;
    wallClock: () => number;
  }) {
    this.wheel = parts.wheel;
    this.transport = parts.transport;
    this.stats = parts.stats;
    this.settings = parts.settings;
    this.ledger = parts.ledger;
    this.runId = parts.runId;
    this.wallClock = parts.wallClock;
    const { basePath } = parts.transport;
    this.#paths = Object.fromEntries(Object.entries(PATHS).map(([name, path]) => [name, basePath + path])) as Record<
      Endpoint,
      string
    >;
  }

  pathOf(endpoint: Endpoint): string {
    return this.#paths[endpoint];
  }

  unixTime(): number {
    return Math.floor(this.wallClock() / 1000);
  }

  /** The real duration of an agent's interval. */
  interval(seconds: number): number {
    return (seconds * 1000 * this.settings.scale) / this.rateFactor;
  }

  /** Resolves early if the run stops. */
  sleep(ms: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(wake);
        this.wheel.disarm(timer);
        resolve();
      };
      const timer = this.wheel.after(ms, wake);
      this.#sleepers.add(wake);
    });
  }

  stop(): void {
    this.stopping = true;
    for (const wake of [...this.#sleepers]) wake();
  }

  /** Header lines that are the same for every call. */
  fields(version: string): string {
    let fields = this.#fieldsByVersion.get(version);
    if (!fields) {
      fields = `User-Agent: osquery/${version}\r\nContent-Type: application/json\r\nAccept: application/json\r\n`;
      this.#fieldsByVersion.set(version, fields);
    }
    return fields;
  }
}
