import { Histogram } from "./histogram.ts";
import { RecentErrors } from "./recent-errors.ts";

export const ENDPOINTS = [
  "enroll",
  "config",
  "log",
  "distributed_read",
  "distributed_write",
  "carve_begin",
  "carve_block",
  "managed_enroll",
  "managed_config",
  "managed_token",
  "managed_script_request",
  "managed_script_result",
  "managed_install_details",
  "managed_install_package",
  "managed_install_result",
  "managed_setup_init",
  "managed_setup_status",
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export const PATHS: Record<Endpoint, string> = {
  enroll: "/api/v1/qengine/enroll",
  config: "/api/v1/qengine/config",
  log: "/api/v1/qengine/log",
  distributed_read: "/api/v1/qengine/distributed/read",
  distributed_write: "/api/v1/qengine/distributed/write",
  carve_begin: "/api/v1/qengine/carve/begin",
  carve_block: "/api/v1/qengine/carve/block",
  managed_enroll: "/api/v1/svc/agent/enroll",
  managed_config: "/api/v1/svc/agent/config",
  managed_token: "/api/v1/svc/agent/device_token",
  managed_script_request: "/api/v1/svc/agent/scripts/request",
  managed_script_result: "/api/v1/svc/agent/scripts/result",
  managed_install_details: "/api/v1/svc/agent/software_install/details",
  managed_install_package: "/api/v1/svc/agent/software_install/package?alt=media",
  managed_install_result: "/api/v1/svc/agent/software_install/result",
  managed_setup_init: "/api/v1/svc/agent/setup_experience/init",
  managed_setup_status: "/api/v1/svc/agent/setup_experience/status",
};

class EndpointStats {
  readonly latency = new Histogram();
  errors = 0;
  bytesIn = 0;
  bytesOut = 0;
}

/** Counters for all agents of a run. */
export class Stats {
  readonly endpoints = Object.fromEntries(ENDPOINTS.map((name) => [name, new EndpointStats()])) as Record<
    Endpoint,
    EndpointStats
  >;
  /** Replies by HTTP status. Agents ignore the status; it is counted for the report. */
  readonly statuses = new Map<number, number>();
  /** The last few failure reasons, newest last. */
  readonly recentErrors = new RecentErrors();
  enrolled = 0;
  reEnrolled = 0;
  acknowledgedLines = 0;
  droppedLines = 0;
  nodeInvalid = 0;
  connectFailures = 0;
  timeouts = 0;
  /** Replies for which the agent's behaviour is undefined. */
  undefinedAnswers = 0;
  deliveredResults = 0;
  /** Scripts whose result the server accepted. */
  scriptsRun = 0;
  installsRun = 0;
  installsFailed = 0;

  answered(endpoint: Endpoint, status: number, ms: number, bytesOut: number, bytesIn: number): void {
    const stats = this.endpoints[endpoint];
    stats.latency.record(ms);
    stats.bytesIn += bytesIn;
    stats.bytesOut += bytesOut;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  unanswered(endpoint: Endpoint, reason: string, ms: number): void {
    this.endpoints[endpoint].latency.record(ms);
    if (reason === "connect") this.connectFailures++;
    if (reason === "timeout") this.timeouts++;
  }

  failed(endpoint: Endpoint, reason: string): void {
    this.endpoints[endpoint].errors++;
    this.recentErrors.add(endpoint, reason);
  }

  get requests(): number {
    return ENDPOINTS.reduce((sum, name) => sum + this.endpoints[name].latency.count, 0);
  }

  get errors(): number {
    return ENDPOINTS.reduce((sum, name) => sum + this.endpoints[name].errors, 0);
  }

  /** Resets the latencies, so that a phase of a run can be measured separately. */
  resetLatencies(): void {
    for (const name of ENDPOINTS) this.endpoints[name].latency.reset();
  }
}
