import type { CarveOptions } from "./agent/world.ts";
import { DEFAULT_FLAGS } from "./agent/world.ts";

export type Progress = {
  seconds: number;
  started: number;
  hosts: number;
  requests: number;
  requestsPerSecond: number;
  errors: number;
  enrolled: number;
  connections: number;
  acknowledgedLines: number;
};

export type SimulationOptions = {
  /** The URL of the server. A path in it is put before the agents' paths. */
  serverUrl: string;
  enrollSecret: string;
  hosts: number;
  /** Keys (`macos`, `windows`, `ubuntu`, ...) or families (`linux`, `darwin`). All platforms if absent. */
  platforms?: string[];
  /** A seed always creates the same machines. */
  seed?: number;
  /** A factor for all intervals: 0.1 is ten times as fast. */
  scale?: number;
  /** Result lines per host and minute in addition to those of scheduled queries (at scale 1). */
  logLinesPerMinute?: number;
  statusLinesPerHour?: number;
  /** The period in seconds over which the agents start. */
  spread?: number;
  /** The duration of the run in seconds. */
  duration?: number;
  softwarePerHost?: number;
  tls?: { ca?: string; caFile?: string; insecure?: boolean };
  /** The file for node keys, with which the next run checks in instead of enrolling. */
  identityFile?: string;
  quirks?: boolean;
  /** The share of hosts with a managed agent beside the stock one. */
  managed?: number;
  /** The share of scripts that fail on managed agents. */
  scriptFailures?: number;
  /** The share of installations that fail on managed agents. */
  installFailures?: number;
  /** The share of installations of which managed agents never report a result. */
  installTimeouts?: number;
  /** The number of connections in the shared pool. */
  maxConnections?: number;
  /**
   * `own`: three sockets per agent, like real agents. `single`: one per agent, for many agents over TLS (85 kB each
   * in this process). `shared`: all agents use one pool. Default: own up to 300 hosts, otherwise shared.
   */
  connections?: "own" | "single" | "shared";
  ledgerFile?: string;
  /** A factor for the request rate. It can be changed during the run. */
  rateFactor?: number;
  /** `enroll`: each host enrolls and delivers its first inventory once, as fast as the server allows. */
  mode?: "run" | "enroll";
  /** The number of concurrent agents in the mode `enroll`. */
  concurrency?: number;
  /**
   * In the mode `enroll`: the inventories are made before the clock starts, so that it measures the server. One more host
   * of each platform enrolls before, and reports which queries there are.
   */
  prepared?: boolean;
  /** Called when the clock of the mode `enroll` starts. */
  onEnrollment?: () => void;
  hostIdentifier?: "uuid" | "hostname" | "instance";
  enrollAttempts?: number;
  /** Flags of the agents that differ from the recommended ones. */
  flags?: Record<string, string>;
  /** The uploads of agents when a query starts a carve. */
  carves?: CarveOptions;
  progressSeconds?: number;
  onProgress?: (progress: Progress) => void;
};

type Absent =
  | "platforms"
  | "duration"
  | "tls"
  | "identityFile"
  | "ledgerFile"
  | "onProgress"
  | "onEnrollment"
  | "carves";

export type CompleteOptions = Required<Omit<SimulationOptions, Absent>> & Pick<SimulationOptions, Absent>;

const OWN_UP_TO = 300;

export function completeOptions(options: SimulationOptions): CompleteOptions {
  const { hosts, scale = 1, managed = 0, scriptFailures = 0, rateFactor = 1 } = options;
  const { installFailures = 0, installTimeouts = 0 } = options;
  if (!Number.isInteger(hosts) || hosts < 1) throw new Error("hosts must be a whole number of at least 1");
  if (!(scale > 0)) throw new Error("scale must be above 0");
  if (!(rateFactor > 0)) throw new Error("rateFactor must be above 0");
  if (!(managed >= 0 && managed <= 1)) throw new Error("managed is a share from 0 to 1");
  for (const [name, share] of Object.entries({ scriptFailures, installFailures, installTimeouts }))
    if (!(share >= 0 && share <= 1)) throw new Error(`${name} is a share from 0 to 1`);
  return {
    seed: 1,
    logLinesPerMinute: 0,
    statusLinesPerHour: 2,
    spread: Math.min(10 * scale, hosts / 20),
    softwarePerHost: 150,
    quirks: false,
    maxConnections: 512,
    connections: hosts <= OWN_UP_TO ? "own" : "shared",
    mode: "run",
    concurrency: 32,
    prepared: false,
    hostIdentifier: "uuid",
    enrollAttempts: 12,
    progressSeconds: 1,
    ...withoutUndefined(options),
    scale,
    managed,
    scriptFailures,
    installFailures,
    installTimeouts,
    rateFactor,
    flags: { ...DEFAULT_FLAGS, ...options.flags },
  };
}

function withoutUndefined(options: SimulationOptions): SimulationOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as SimulationOptions;
}
