// Mails that nobody waits for: sent after the reply, few at once, and not more waiting than fit.
import type { Services } from "../core/context.ts";
import { ApiError, unavailable } from "../core/errors.ts";

/** What is done after the reply; it is to end when the signal aborts. */
type Work = (signal: AbortSignal) => Promise<void>;

const AT_ONCE = 4;
const MAX_WAITING = 200;
/** How long the end of the server waits for mails on their way. */
const GRACE = 3_000;

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
      throw unavailable("too many mails are waiting to be sent; try again");
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    while (this.#running < AT_ONCE && this.#waiting.length > 0) {
      this.#running++;
      void this.#run(this.#waiting.shift()!);
    }
    if (this.#running === 0) for (const done of this.#idle.splice(0)) done();
  }

  async #run(work: Work): Promise<void> {
    // Not within the request: what the work takes must not be seen in its reply.
    await new Promise(setImmediate);
    try {
      await work(this.#stop.signal);
    } catch (error) {
      // Reasons are for admins; what is mailed is in none of them.
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
    }, GRACE);
    await this.idle();
    clearTimeout(timer);
    this.#stop.abort();
  }
}

const all = new WeakMap<Services["settings"], Later>();

function queueOf({ settings, log }: Pick<Services, "settings" | "log">): Later {
  const known = all.get(settings);
  if (known) return known;
  const made = new Later(log);
  all.set(settings, made);
  return made;
}

/** Does it soon; 503 when too much waits already. Failures are logged. */
export const later = (ctx: Pick<Services, "settings" | "log">, work: Work): void => queueOf(ctx).add(work);

/** Resolves when nothing is left to be sent. */
export const mailIdle = (ctx: Pick<Services, "settings" | "log">): Promise<void> => queueOf(ctx).idle();

/** Lets mails on their way leave, for a while, and takes no more. */
export const stopMail = (ctx: Pick<Services, "settings" | "log">): Promise<void> => queueOf(ctx).stop();
