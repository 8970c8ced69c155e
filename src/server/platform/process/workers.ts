// Runs several server processes on one port (Postgres only). The primary process restarts workers that end.
import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { BadSetting, loadTls } from "../core/security/tls.ts";
import type { Settings } from "../core/settings/settings.ts";
import { SharedPort } from "./shared-port.ts";
import { onStopSignals } from "./stop-signals.ts";

export const isWorker = (): boolean => cluster.isWorker;

/** A worker that ends sooner than this is not restarted immediately. */
const TOO_SOON_MS = 2_000;

const running = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Resolves when every worker has stopped after a signal. `prepareStore`: migrates it, and closes it again. */
export async function runWorkers(settings: Settings, log: Logger, prepareStore: () => Promise<void>): Promise<void> {
  if (settings.port === 0) throw new BadSetting("port: several workers need a port of their own choice, not 0");
  // Once before any worker starts: a failed migration is reported here, and keys and certificates are created by one
  // process only.
  await prepareStore();
  await loadTls(settings);
  let stopping = false;
  let failure: Error | null = null;
  const pass = (signal: NodeJS.Signals) => {
    for (const worker of running()) worker.process.kill(signal);
  };
  await new Promise<void>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) return;
      stopping = true;
      const workers = running();
      let left = workers.length;
      if (left === 0) resolve();
      for (const worker of workers) worker.once("exit", () => --left === 0 && resolve());
      port.stop();
      pass(signal);
    };
    const port = new SharedPort({ host: settings.host, port: settings.port }, (error) => {
      failure = error;
      stop("SIGTERM");
    });
    const start = () => {
      const worker = cluster.fork();
      const started = Date.now();
      worker.on("message", (message) => port.received(worker, message));
      worker.on("exit", (code, signal) => {
        port.remove(worker);
        if (stopping) return;
        log.error({ pid: worker.process.pid, code, signal }, "a worker ended; starting another");
        setTimeout(() => stopping || start(), Date.now() - started < TOO_SOON_MS ? TOO_SOON_MS : 0);
      });
    };
    for (let i = 0; i < settings.workers; i++) start();
    onStopSignals({ stop, hurry: pass });
  });
  if (failure !== null) throw failure;
}
