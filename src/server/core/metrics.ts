import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What is counted, named as /metrics shows it. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly agentRequests: Counter<"endpoint" | "outcome">;
  readonly agentSeconds: Histogram<"endpoint">;
  readonly hostsSeen: Gauge;
  readonly agentBadLogs: Counter<"reason">;
  readonly outboxTries: Counter<"event" | "outcome">;
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
    hostsSeen: new Gauge({ name: "svc_hosts_seen", help: "Hosts heard of since the last flush", registers }),
    agentBadLogs: new Counter({
      name: "svc_agent_bad_logs_total",
      help: "Log requests that could not be used",
      labelNames: ["reason"],
      registers,
    }),
    outboxTries: new Counter({
      name: "svc_outbox_tries_total",
      help: "Tries to deliver webhooks and tickets",
      labelNames: ["event", "outcome"],
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
