import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** The metrics, with names as on /metrics. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly agentRequests: Counter<"endpoint" | "outcome">;
  readonly agentSeconds: Histogram<"endpoint">;
  readonly hostsSeen: Gauge;
  readonly agentQueueSeconds: Histogram<"queue">;
  readonly agentQueueWaiting: Gauge<"queue">;
  readonly agentOverdue: Counter<"endpoint">;
  readonly agentBadLogs: Counter<"reason">;
  readonly inventoryFailures: Counter<"query">;
  readonly hostLimits: Counter<"limit">;
  readonly enrollmentsRefused: Counter<"agent">;
  readonly outboxTries: Counter<"event" | "outcome">;
  readonly directoryReports: Counter<"outcome">;
  readonly appleRefused: Counter;
  readonly applePushes: Counter<"status" | "reason">;
  readonly appleConnections: Counter;
  readonly appleCertificateRefused: Gauge;
  readonly storeSeconds: Histogram<"table" | "operation">;
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "svc_http_requests_total",
      help: "API requests",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "svc_http_request_seconds",
      help: "API latency",
      labelNames: ["method", "route"],
      buckets,
      registers,
    }),
    agentRequests: new Counter({
      name: "svc_agent_requests_total",
      help: "Agent requests",
      labelNames: ["endpoint", "outcome"],
      registers,
    }),
    agentSeconds: new Histogram({
      name: "svc_agent_request_seconds",
      help: "Agent request latency",
      labelNames: ["endpoint"],
      buckets,
      registers,
    }),
    hostsSeen: new Gauge({
      name: "svc_hosts_seen",
      help: "Hosts that have connected since the last flush",
      registers,
    }),
    agentQueueSeconds: new Histogram({
      name: "svc_agent_queue_seconds",
      help: "Longest wait of the agent requests in each batch",
      labelNames: ["queue"],
      buckets,
      registers,
    }),
    agentQueueWaiting: new Gauge({
      name: "svc_agent_queue_waiting",
      help: "Agent requests waiting for a batch",
      labelNames: ["queue"],
      registers,
    }),
    agentOverdue: new Counter({
      name: "svc_agent_overdue_total",
      help: "Agent requests refused after waiting for more than 10 s",
      labelNames: ["endpoint"],
      registers,
    }),
    agentBadLogs: new Counter({
      name: "svc_agent_bad_logs_total",
      help: "Log requests that could not be used",
      labelNames: ["reason"],
      registers,
    }),
    inventoryFailures: new Counter({
      name: "svc_inventory_failures_total",
      help: "Parts of hosts' inventories that could not be read because of an error in the server",
      labelNames: ["query"],
      registers,
    }),
    hostLimits: new Counter({
      name: "svc_host_limits_total",
      help: "Times that a host reached one of its limits over time, by limit (docs/limits.md)",
      labelNames: ["limit"],
      registers,
    }),
    enrollmentsRefused: new Counter({
      name: "svc_enrollments_refused_total",
      help: "Enrollments of known hosts with an enroll secret of another team",
      labelNames: ["agent"],
      registers,
    }),
    directoryReports: new Counter({
      name: "svc_directory_reports_total",
      help: "Devices whose compliance was sent to the directory, by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    appleRefused: new Counter({
      name: "svc_apple_messages_refused_total",
      help: "Messages of Apple devices whose identity was not accepted",
      registers,
    }),
    outboxTries: new Counter({
      name: "svc_outbox_tries_total",
      help: "Attempts to deliver webhooks, tickets and mails about policies",
      labelNames: ["event", "outcome"],
      registers,
    }),
    applePushes: new Counter({
      name: "svc_apns_pushes_total",
      help: "Pushes to Apple devices by the answer of the push service; status 0: no answer",
      labelNames: ["status", "reason"],
      registers,
    }),
    appleConnections: new Counter({
      name: "svc_apns_connections_total",
      help: "Connections that were opened to the push service of Apple devices",
      registers,
    }),
    appleCertificateRefused: new Gauge({
      name: "svc_apns_certificate_refused",
      help: "1 while the push service refuses the push certificate",
      registers,
    }),
    storeSeconds: new Histogram({
      name: "svc_store_seconds",
      help: "Store operation latency",
      labelNames: ["table", "operation"],
      buckets,
      registers,
    }),
  };
}

/** Metrics of one queue. */
export interface QueueFigures {
  /** Longest wait, in seconds. */
  waited(longest: number): void;
  waiting(count: number): void;
}

export function queueFigures(metrics: Metrics, queue: string): QueueFigures {
  const seconds = metrics.agentQueueSeconds.labels(queue);
  const waiting = metrics.agentQueueWaiting.labels(queue);
  return {
    waited: (longest) => seconds.observe(longest),
    waiting: (count) => waiting.set(count),
  };
}
