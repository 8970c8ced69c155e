// From settings to a running server.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { toNodeHandler } from "h3/node";
import type { Logger } from "pino";
import { collectDefaultMetrics, Gauge } from "prom-client";
import { feedOf } from "./activities/feed.ts";
import { agentHandler } from "./agent/node-handler.ts";
import { createApp } from "./app.ts";
import { createConfigReader } from "./app-config/service.ts";
import { bootstrap, type FirstAdmin } from "./bootstrap.ts";
import { systemClock } from "./core/clock.ts";
import type { Services } from "./core/context.ts";
import { readLicense } from "./core/license.ts";
import { createMetrics, type Metrics } from "./core/metrics.ts";
import { systemRandom } from "./core/random.ts";
import type { Settings } from "./core/settings.ts";
import { loadTls } from "./core/tls.ts";
import { startFeatures } from "./features.ts";
import { chooseAddress, type Listening, listen } from "./listen.ts";
import { withGetBody } from "./live-queries/get-body.ts";
import { liveOf } from "./live-queries/hub.ts";
import { createSockets } from "./live-queries/socket.ts";
import { openBlobs, openStore } from "./open.ts";
import { timed } from "./store/timed.ts";
import type { ServerStore } from "./tables.ts";
import { metricsResponse } from "./web/pages.ts";

/** What runs may take this long to finish at a stop. */
const GRACE_MS = 8_000;

export interface RunningServer {
  readonly services: Services;
  readonly url: string;
  readonly tls: boolean;
  /** The first admin, where this start created one. */
  readonly firstAdmin: FirstAdmin | null;
  stop(): Promise<void>;
}

export async function startServer(
  settings: Settings,
  log: Logger,
  options: { sharedPort?: boolean; quickstart?: boolean } = {},
): Promise<RunningServer> {
  const tls = await loadTls(settings);
  const license = await readLicense(settings, systemClock);
  const metrics = createMetrics();
  collectDefaultMetrics({ register: metrics.registry, prefix: "svc_" });
  const opened = await openStore(settings, log);
  const undo: (() => Promise<unknown>)[] = [() => opened.close()];
  try {
    exposeStore(metrics, opened);
    undo.push(exposeStalls(metrics));
    const store = timed(opened, metrics.storeSeconds);
    const services: Services = {
      settings,
      store,
      blobs: openBlobs(settings),
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      license,
      config: await createConfigReader(store),
      setupToken: systemRandom.token(24),
    };
    const features = await startFeatures(services);
    undo.unshift(() => features.stop());
    const app = withGetBody(toNodeHandler(createApp(services, features)) as RequestListener);
    const sockets = createSockets(services);
    const agents = agentHandler(features.agent, services);
    const handler = (req: IncomingMessage, res: ServerResponse) => {
      if (!agents(req, res)) app(req, res);
    };
    const address = await chooseAddress({
      host: settings.host,
      port: settings.port,
      tls,
      sharedPort: options.sharedPort ?? false,
    });
    // Before anybody is let in: who finds the server well can sign in.
    const firstAdmin = await bootstrap(services, { url: address.url, quickstart: options.quickstart ?? false });
    const listening = await listen(handler, address, sockets.upgrade);
    undo.unshift(() => listening.close(GRACE_MS));
    // Streams would keep their connections open for as long as a live query runs.
    undo.unshift(async () => {
      liveOf(services).endStreams();
      feedOf(services).endStreams();
      sockets.close();
    });
    const extra = await listenForMetrics(settings, services);
    if (extra) undo.unshift(() => extra.close(1000));
    return {
      services,
      url: address.url,
      tls: tls !== null,
      firstAdmin,
      async stop() {
        for (const step of undo) await step();
      },
    };
  } catch (error) {
    for (const step of undo) await step().catch(() => {});
    throw error;
  }
}

/** /metrics on an address of its own, where one is set. */
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

function exposeStore({ registry }: Metrics, store: ServerStore): void {
  new Gauge({
    name: "svc_store_stat",
    help: "Figures of the store: journal size, pool use and the like",
    labelNames: ["name", "engine"],
    registers: [registry],
    collect() {
      for (const [name, value] of Object.entries(store.stats())) this.set({ name, engine: store.engine }, value);
    },
  });
}

/** The longest time that the event loop stood still since the figure was last read. */
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
