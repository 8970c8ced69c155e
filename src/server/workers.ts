// Several server processes on one port (Postgres only): a primary that starts them again when they fall.
import cluster from "node:cluster";
import type { Logger } from "pino";
import type { Settings } from "./core/settings.ts";
import { openStore } from "./open.ts";

export const isWorker = (): boolean => cluster.isWorker;

/** A worker that falls sooner than this is not started again at once. */
const TOO_SOON_MS = 2_000;

/** Resolves when every worker has stopped after a signal. */
export async function runWorkers(settings: Settings, log: Logger): Promise<void> {
  // Once, before any worker starts: a schema that cannot be brought up to date is told here.
  await (await openStore(settings, log)).close();
  let stopping = false;
  const start = () => {
    const worker = cluster.fork();
    const started = Date.now();
    worker.on("exit", (code, signal) => {
      if (stopping) return;
      log.error({ pid: worker.process.pid, code, signal }, "a worker ended; starting another");
      setTimeout(() => stopping || start(), Date.now() - started < TOO_SOON_MS ? TOO_SOON_MS : 0);
    });
  };
  for (let i = 0; i < settings.workers; i++) start();
  await new Promise<void>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) return;
      stopping = true;
      const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      let left = running.length;
      if (left === 0) resolve();
      for (const worker of running) {
        worker.once("exit", () => --left === 0 && resolve());
        worker.process.kill(signal);
      }
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
