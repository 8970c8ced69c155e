import type { Services } from "../context.ts";

/** Delay in milliseconds before a failed run is retried. */
const RETRY = 1_000;

export interface TriggeredTask {
  /** Schedules a run soon. Several calls before it starts cause only one run. */
  plan(): void;
  /** Starts a run immediately, or after the current one. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

interface TriggeredTaskOptions {
  readonly channel: string;
  /**
   * Delay in milliseconds from a message to the run: a minimum and a random part, so that usually only one server
   * finds work to do.
   */
  readonly least: number;
  readonly more: number;
  /** Minimum time in milliseconds between the starts of two runs that messages cause. */
  readonly apart?: number;
  /** The log message for a failed run; its work remains to be done. */
  readonly failure: string;
}

/**
 * Runs a task that any server may do: at startup, soon after each message on the channel, and a final time on stop.
 * Never concurrently on one server.
 */
export async function startTriggeredTask(
  { store, random, log }: Pick<Services, "store" | "random" | "log">,
  { channel, least, more, apart = 0, failure }: TriggeredTaskOptions,
  work: () => Promise<unknown>,
): Promise<TriggeredTask> {
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let lastStart = Number.NEGATIVE_INFINITY;

  function after(delay: number): void {
    if (stopped || timer) return;
    timer = setTimeout(() => {
      timer = null;
      void run();
    }, delay);
    timer.unref();
  }
  const plan = () => after(Math.max(least + random.int(more), lastStart + apart - performance.now()));

  function run(): Promise<void> {
    running = running.then(async () => {
      lastStart = performance.now();
      try {
        await work();
      } catch (err) {
        log.warn({ err }, failure);
        after(RETRY);
      }
    });
    return running;
  }

  const unlisten = await store.listen(channel, plan, plan);
  // A server that has ended may have left work.
  after(0);
  return {
    plan,
    run,
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await unlisten();
      await run();
    },
  };
}
