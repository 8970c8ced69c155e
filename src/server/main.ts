// Starts a server from its settings.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { toNodeHandler } from "h3/node";
import type { Logger } from "pino";
import { Counter, collectDefaultMetrics, Gauge } from "prom-client";
import { createApp } from "./app.ts";
import { bootstrap, type FirstAdmin } from "./bootstrap.ts";
import { listExpiring } from "./devices/expiry/service.ts";
import { directHandler } from "./direct.ts";
import { agentHandler } from "./edge/agent/http/node-handler.ts";
import { metricsResponse } from "./edge/web/pages.ts";
import { extensions } from "./extensions.ts";
import { startFeatures } from "./features.ts";
import { activityFeed } from "./hosts/activity-feed/feed.ts";
import { withGetBody } from "./inventory/live-queries/get-body.ts";
import { liveQueries } from "./inventory/live-queries/hub.ts";
import { Sockets } from "./inventory/live-queries/websocket/sockets.ts";
import { openCheckedBlobs, openStore } from "./open-data.ts";
import { systemClock } from "./platform/core/clock.ts";
import { announceStop } from "./platform/core/concurrency/stopping.ts";
import type { Services } from "./platform/core/context.ts";
import { bodyRoom } from "./platform/core/http/body-room.ts";
import { isLoopback } from "./platform/core/http/proxies.ts";
import { closeWhenUnread } from "./platform/core/http/unread-bodies.ts";
import { stderrSink } from "./platform/core/logging/log-sink.ts";
import { createMetrics, type Metrics } from "./platform/core/logging/metrics.ts";
import { systemRandom } from "./platform/core/random.ts";
import { withRunning } from "./platform/core/running.ts";
import { readLicense } from "./platform/core/security/license.ts";
import { loadTls } from "./platform/core/security/tls.ts";
import type { Settings } from "./platform/core/settings/settings.ts";
import type { ServerStore } from "./platform/core/tables.ts";
import { limitHeapGrowth } from "./platform/process/heap-growth.ts";
import { chooseAddress, type Listening, listen } from "./platform/process/listen.ts";
import { timed } from "./platform/store/timed.ts";
import { protocolsOf } from "./protocols.ts";
import { routes } from "./routes.ts";
import { createConfigReader } from "./settings/app-config/service.ts";
import { StrangerRefusals } from "./stranger-refusals.ts";

export interface RunningServer {
  readonly services: Services;
  readonly url: string;
  readonly tls: boolean;
  /** The first admin, if this start created one. */
  readonly firstAdmin: FirstAdmin | null;
  stop(how?: Stop): Promise<void>;
}

export interface Stop {
  /** Whether new connections are accepted for `shutdown_grace`, so that load balancers notice. */
  readonly withGrace?: boolean;
  /** Ends the wait for clients. */
  readonly hurry?: AbortSignal;
}

interface StartOptions {
  readonly quickstart?: boolean;
  /** Other workers serve the same port. */
  readonly isShared?: boolean;
}

export async function startServer(settings: Settings, log: Logger, options: StartOptions = {}): Promise<RunningServer> {
  const tls = await loadTls(settings);
  const license = await readLicense(settings, systemClock);
  const metrics = createMetrics();
  collectDefaultMetrics({ register: metrics.registry, prefix: "svc_" });
  exposeLog(metrics);
  const opened = await openStore(settings, log);
  const undo: ((how: Stop) => Promise<unknown>)[] = [() => opened.close()];
  try {
    const blobs = await openCheckedBlobs(settings);
    undo.push(() => blobs.close());
    exposeStore(metrics, opened);
    undo.push(exposeStalls(metrics));
    const endGrowth = limitHeapGrowth();
    undo.push(async () => endGrowth());
    const store = timed(opened, metrics.storeSeconds);
    const services = withRunning({
      settings,
      store,
      blobs,
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      license,
      config: await createConfigReader(store),
      setupToken: systemRandom.token(24),
      extensions,
      dryRun: null,
    });
    exposeExpiry(services);
    const features = await startFeatures(services);
    undo.unshift(() => features.stop());
    const app = withGetBody(
      toNodeHandler(createApp(services, features)) as RequestListener,
      services.running.of(bodyRoom),
    );
    const sockets = new Sockets(services);
    const agents = agentHandler(features.agent, services);
    const devices = directHandler(services, protocolsOf(settings));
    const refusals = new StrangerRefusals(services, [{ routes }, ...protocolsOf(settings)]);
    const handler = (req: IncomingMessage, res: ServerResponse) => {
      if (refusals.handle(req, res) || agents(req, res) || devices(req, res)) return;
      closeWhenUnread(req, res);
      app(req, res);
    };
    const address = await chooseAddress({
      host: settings.host,
      port: settings.port,
      tls,
    });
    if (
      (settings.host === "localhost" || isLoopback(settings.host)) &&
      settings.trusted_proxies.length === 0 &&
      !options.quickstart
    )
      log.warn(
        { host: settings.host },
        "the server listens on this machine only: if a proxy here is to forward requests to it, start it with " +
          "--trusted-proxies 127.0.0.1; until then limits count all callers of the proxy as one address",
      );
    const extra = await listenForMetrics(settings, services);
    if (extra) undo.unshift(() => extra.close({ graceMs: 0, limitMs: 1_000 }));
    // Before the first admin is created: its password would be lost if the port were not available.
    const listening = await listen(handler, address, {
      upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
      isHeld: true,
      isShared: options.isShared ?? false,
      refuses: (peer) => refusals.refusesConnection(peer),
    });
    undo.unshift(async ({ withGrace = false, hurry }) => {
      announceStop(services);
      const drained = await listening.close({
        graceMs: withGrace ? settings.shutdown_grace : 0,
        limitMs: settings.shutdown_timeout,
        hurry,
        endStreams() {
          services.running.of(liveQueries).endStreams();
          services.running.of(activityFeed).endStreams();
          sockets.close();
        },
      });
      log.info(drained, "drained");
      if (drained.cut > 0)
        log.warn(
          { requests: drained.cut },
          "requests in progress were cut off at the stop; a higher --shutdown-timeout gives them more time",
        );
    });
    // Before the server answers requests: when it reports healthy, signing in must already work.
    const firstAdmin = await bootstrap(services, { url: address.url, quickstart: options.quickstart ?? false });
    listening.open();
    return {
      services,
      url: address.url,
      tls: tls !== null,
      firstAdmin,
      async stop(how = {}) {
        for (const step of undo) await step(how);
      },
    };
  } catch (error) {
    for (const step of undo) await step({}).catch(() => {});
    throw error;
  }
}

/** Serves /metrics on a separate address if one is configured. */
async function listenForMetrics(settings: Settings, services: Services): Promise<Listening | null> {
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
function exposeExpiry(services: Services): void {
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

function exposeLog({ registry }: Metrics): void {
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

function exposeStore({ registry }: Metrics, store: ServerStore): void {
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
function exposeStalls({ registry }: Metrics): () => Promise<void> {
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
