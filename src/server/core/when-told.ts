import type { Services } from "./context.ts";

/** After a failure the work is tried again in so many milliseconds. */
const RETRY = 1_000;

export interface WhenTold {
  /** Has the work done soon, once however often it is asked for. */
  plan(): void;
  /** Does the work now, after what is under way. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

export interface WhenToldOptions {
  readonly channel: string;
  /** Milliseconds from a message to the work: the least, and a random part, so that mostly one of the servers has it. */
  readonly least: number;
  readonly more: number;
  /** What is logged when it fails; what was to be done is kept and waits. */
  readonly failure: string;
}

/** Does work that any server may do: at the start, soon after each message on the channel, and once more at the stop; never twice at a time here. */
export async function whenTold(
  { store, random, log }: Pick<Services, "store" | "random" | "log">,
  { channel, least, more, failure }: WhenToldOptions,
  work: () => Promise<unknown>,
): Promise<WhenTold> {
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();

  function after(delay: number): void {
    if (stopped || timer) return;
    timer = setTimeout(() => {
      timer = null;
      void run();
    }, delay);
    timer.unref();
  }
  const plan = () => after(least + random.int(more));

  function run(): Promise<void> {
    running = running.then(async () => {
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
  // What a server that ended left behind.
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
