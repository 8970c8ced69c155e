// Metrics about the server itself, and the address at which they are served.
import type { IncomingMessage, ServerResponse } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge } from "prom-client";
import { listExpiring } from "./devices/expiry/service.ts";
import { metricsResponse } from "./edge/web/pages.ts";
import type { Services } from "./platform/core/context.ts";
import { stderrSink } from "./platform/core/logging/log-sink.ts";
import type { Metrics } from "./platform/core/logging/metrics.ts";
import type { Settings } from "./platform/core/settings/settings.ts";
import type { ServerStore } from "./platform/core/tables.ts";
import { chooseAddress, type Listening, listen } from "./platform/process/listen.ts";

/** Serves /metrics on a separate address if one is configured. */
export async function listenForMetrics(settings: Settings, services: Services): Promise<Listening | null> {
  if (settings.metrics_port === undefined) return null;
  const handler = async (req: IncomingMessage, res: ServerResponse) => {
    if (req.url !== "/metrics") return void res.writeHead(404).end();
    const reply = await metricsResponse(services);
    res.writeHead(200, { "content-type": reply.headers.get("content-type") ?? "text/plain" }).end(await reply.text());
  };
  const address = await chooseAddress({
    host: settings.metrics_host ?? settings.host,
    port: settings.metrics_port,
    tls: null,
  });
  return listen((req, res) => void handler(req, res), address);
}

/** Alerts can compare it with the time: certificates of device management that end make devices unreachable. */
export function exposeExpiry(services: Services): void {
  new Gauge({
    name: "svc_certificate_expires_timestamp_seconds",
    help: "When each certificate of device management ends, in seconds since 1970",
    labelNames: ["certificate"],
    registers: [services.metrics.registry],
    async collect() {
      const all = await listExpiring(services).catch(() => []);
      this.reset();
      for (const { name, not_valid_after } of all) this.set({ certificate: name }, Date.parse(not_valid_after) / 1000);
    },
  });
}

export function exposeLog({ registry }: Metrics): void {
  new Counter({
    name: "svc_log_lines_lost_total",
    help: "Lines of the server's own log that could not be written to stderr",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(stderrSink().lost);
    },
  });
}

export function exposeStore({ registry }: Metrics, store: ServerStore): void {
  new Gauge({
    name: "svc_store_stat",
    help: "Store statistics such as journal size and pool use",
    labelNames: ["name", "engine"],
    registers: [registry],
    collect() {
      for (const [name, value] of Object.entries(store.stats())) this.set({ name, engine: store.engine }, value);
    },
  });
}

/** The longest stall of the event loop since the metric was last read. */
export function exposeStalls({ registry }: Metrics): () => Promise<void> {
  const resolution = 5;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  new Gauge({
    name: "svc_event_loop_stall_max_seconds",
    help: "Longest event-loop stall since the last scrape",
    registers: [registry],
    collect() {
      this.set(Math.max(0, delay.max / 1e9 - resolution / 1e3));
      delay.reset();
    },
  });
  return async () => void delay.disable();
}
