// Queue of mails sent after the reply, with limits on concurrency and length.
import type { Services } from "../core/context.ts";
import { ApiError, overloaded } from "../core/errors.ts";
import { startedPart } from "../core/running.ts";

/** Runs after the reply; must end when the signal aborts. */
type Work = (signal: AbortSignal) => Promise<void>;

const MAX_CONCURRENT = 4;
const MAX_WAITING = 200;
/** How long (ms) shutdown waits for mails being sent. */
const STOP_GRACE_MS = 3_000;

class Later {
  readonly #log: Services["log"];
  readonly #waiting: Work[] = [];
  readonly #stop = new AbortController();
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(log: Services["log"]) {
    this.#log = log;
  }

  add(work: Work): void {
    if (this.#stop.signal.aborted || this.#waiting.length >= MAX_WAITING)
      throw overloaded("too many mails are waiting to be sent; try again");
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    while (this.#running < MAX_CONCURRENT && this.#waiting.length > 0) {
      this.#running++;
      void this.#run(this.#waiting.shift()!);
    }
    if (this.#running === 0) for (const done of this.#idle.splice(0)) done();
  }

  async #run(work: Work): Promise<void> {
    // Starts after the reply, so that the time it takes cannot be observed in the reply.
    await new Promise(setImmediate);
    try {
      await work(this.#stop.signal);
    } catch (error) {
      // The reason is for admins and contains nothing of the mail.
      const reason = error instanceof ApiError ? error.errors[0]?.reason : undefined;
      if (reason === undefined) this.#log.error({ err: error }, "a mail could not be sent");
      else this.#log.warn({ reason }, "a mail could not be sent");
    } finally {
      this.#running--;
      this.#next();
    }
  }

  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((done) => this.#idle.push(done));
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => {
      this.#waiting.length = 0;
      this.#stop.abort();
    }, STOP_GRACE_MS);
    await this.idle();
    clearTimeout(timer);
    this.#stop.abort();
  }
}

/** Rejects new mails when it stops, and waits for those being sent, up to STOP_GRACE_MS. */
export const mailQueue = startedPart("mails", async ({ log }) => new Later(log));

/** Queues the work; 503 if the queue is full. Failures are logged. Does nothing in a dry run. */
export const later = (ctx: Pick<Services, "running" | "dryRun">, work: Work): void => {
  if (!ctx.dryRun) ctx.running.of(mailQueue).add(work);
};

/** Resolves when the queue is empty. */
export const mailIdle = ({ running }: Pick<Services, "running">): Promise<void> => running.of(mailQueue).idle();
