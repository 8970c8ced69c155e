// Starts a server from its settings.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { toNodeHandler } from "h3/node";
import type { Logger } from "pino";
import { collectDefaultMetrics } from "prom-client";
import { createApp } from "./app.ts";
import { bootstrap, type FirstAdmin } from "./bootstrap.ts";
import { directHandler } from "./direct.ts";
import { agentHandler } from "./edge/agent/http/node-handler.ts";
import { extensions } from "./extensions.ts";
import { type Features, startFeatures } from "./features.ts";
import { activityFeed } from "./hosts/activity-feed/feed.ts";
import { withGetBody } from "./inventory/live-queries/get-body.ts";
import { liveQueries } from "./inventory/live-queries/hub.ts";
import { Sockets } from "./inventory/live-queries/websocket/sockets.ts";
import { openCheckedBlobs, openStore } from "./open-data.ts";
import { exposeExpiry, exposeLog, exposeStalls, exposeStore, listenForMetrics } from "./own-metrics.ts";
import { systemClock } from "./platform/core/clock.ts";
import { announceStop } from "./platform/core/concurrency/stopping.ts";
import type { Services } from "./platform/core/context.ts";
import { bodyRoom } from "./platform/core/http/body-room.ts";
import { isLoopback } from "./platform/core/http/proxies.ts";
import { closeWhenUnread } from "./platform/core/http/unread-bodies.ts";
import { createMetrics } from "./platform/core/logging/metrics.ts";
import { systemRandom } from "./platform/core/random.ts";
import { withRunning } from "./platform/core/running.ts";
import { readLicense } from "./platform/core/security/license.ts";
import { loadTls } from "./platform/core/security/tls.ts";
import type { Settings } from "./platform/core/settings/settings.ts";
import { limitHeapGrowth } from "./platform/process/heap-growth.ts";
import { type Address, chooseAddress, type Listening, listen } from "./platform/process/listen.ts";
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
  const startup = new Startup(settings, log, options);
  try {
    return await startup.run();
  } catch (error) {
    await startup.undoAll();
    throw error;
  }
}

class Startup {
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #options: StartOptions;
  /** What stops the parts that were started, in the order in which they stop. */
  readonly #undo: ((how: Stop) => Promise<unknown>)[] = [];

  constructor(settings: Settings, log: Logger, options: StartOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#options = options;
  }

  async run(): Promise<RunningServer> {
    const tls = await loadTls(this.#settings);
    const services = await this.#openServices();
    exposeExpiry(services);
    const features = await startFeatures(services);
    this.#undo.unshift(() => features.stop());
    const { host, port } = this.#settings;
    const address = await chooseAddress({ host, port, tls });
    this.#warnOfProxies();
    const extra = await listenForMetrics(this.#settings, services);
    if (extra) this.#undo.unshift(() => extra.close({ graceMs: 0, limitMs: 1_000 }));
    // Before the first admin is created: its password would be lost if the port were not available.
    const listening = await this.#listen(services, features, address);
    // Before the server answers requests: when it reports healthy, signing in must already work.
    const quickstart = this.#options.quickstart ?? false;
    const firstAdmin = await bootstrap(services, { url: address.url, quickstart });
    listening.open();
    return {
      services,
      url: address.url,
      tls: tls !== null,
      firstAdmin,
      stop: async (how = {}) => {
        for (const step of this.#undo) await step(how);
      },
    };
  }

  async undoAll(): Promise<void> {
    for (const step of this.#undo) await step({}).catch(() => {});
  }

  async #openServices(): Promise<Services> {
    const license = await readLicense(this.#settings, systemClock);
    const metrics = createMetrics();
    collectDefaultMetrics({ register: metrics.registry, prefix: "svc_" });
    exposeLog(metrics);
    const opened = await openStore(this.#settings, this.#log);
    this.#undo.push(() => opened.close());
    const blobs = await openCheckedBlobs(this.#settings);
    this.#undo.push(() => blobs.close());
    exposeStore(metrics, opened);
    this.#undo.push(exposeStalls(metrics));
    const endGrowth = limitHeapGrowth();
    this.#undo.push(async () => endGrowth());
    const store = timed(opened, metrics.storeSeconds);
    return withRunning({
      settings: this.#settings,
      store,
      blobs,
      clock: systemClock,
      random: systemRandom,
      log: this.#log,
      metrics,
      license,
      config: await createConfigReader(store),
      setupToken: systemRandom.token(24),
      extensions,
      dryRun: null,
    });
  }

  #warnOfProxies(): void {
    const { host, trusted_proxies: proxies } = this.#settings;
    const isLocal = host === "localhost" || isLoopback(host);
    if (!isLocal || proxies.length > 0 || this.#options.quickstart) return;
    this.#log.warn(
      { host },
      "the server listens on this machine only: if a proxy here is to forward requests to it, start it with " +
        "--trusted-proxies 127.0.0.1; until then limits count all callers of the proxy as one address",
    );
  }

  /** Binds the address. Requests wait until the server is opened. */
  async #listen(services: Services, features: Features, address: Address): Promise<Listening> {
    const app = withGetBody(
      toNodeHandler(createApp(services, features)) as RequestListener,
      services.running.of(bodyRoom),
    );
    const sockets = new Sockets(services);
    const agents = agentHandler(features.agent, services);
    const devices = directHandler(services, protocolsOf(this.#settings));
    const refusals = new StrangerRefusals(services, [{ routes }, ...protocolsOf(this.#settings)]);
    const handler = (req: IncomingMessage, res: ServerResponse) => {
      if (refusals.handle(req, res) || agents(req, res) || devices(req, res)) return;
      closeWhenUnread(req, res);
      app(req, res);
    };
    const listening = await listen(handler, address, {
      upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
      isHeld: true,
      isShared: this.#options.isShared ?? false,
      refuses: (peer) => refusals.refusesConnection(peer),
    });
    const endStreams = () => {
      services.running.of(liveQueries).endStreams();
      services.running.of(activityFeed).endStreams();
      sockets.close();
    };
    this.#undo.unshift(async (how) => {
      announceStop(services);
      await this.#drain(listening, how, endStreams);
    });
    return listening;
  }

  async #drain(listening: Listening, { withGrace = false, hurry }: Stop, endStreams: () => void): Promise<void> {
    const drained = await listening.close({
      graceMs: withGrace ? this.#settings.shutdown_grace : 0,
      limitMs: this.#settings.shutdown_timeout,
      hurry,
      endStreams,
    });
    this.#log.info(drained, "drained");
    if (drained.cut > 0)
      this.#log.warn(
        { requests: drained.cut },
        "requests in progress were cut off at the stop; a higher --shutdown-timeout gives them more time",
      );
  }
}
