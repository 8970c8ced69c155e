// Detects that the database no longer responds. A frozen machine or a cut network reports no error, so statements would
// wait until their own timeouts. The watchdog probes twice a second on a connection of its own. After a few seconds
// without an answer, all running and waiting statements fail, and new ones are refused until a probe is answered again.
import pg from "pg";
import { StoreUnavailable } from "../../store.ts";
import { cut, destroy, type PoolLog, probeConfig } from "./pool.ts";

const ASK_EVERY_MS = 500;
/** Ticks without an answer before an outage is declared (3.5 s). A stall of our own event loop counts as one tick. */
const UNANSWERED_LIMIT = 7;

interface Probe {
  /** Resolves when the database answers, even with an error. Rejects when it cannot be reached. */
  ask(): Promise<void>;
  /** Breaks the connection: a pending `ask` rejects, and the next one connects again. */
  drop(): void;
  close(): void;
}

const silence = (): StoreUnavailable => new StoreUnavailable("the database does not respond");

export class Watchdog {
  readonly #probe: Probe;
  readonly #log: PoolLog | undefined;
  readonly #sessions = new Set<pg.Client>();
  /** Sessions with tasks that may take hours, such as a backup. They continue when the database resumes. */
  readonly #spared = new Set<pg.ClientBase>();
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  #unanswered = 0;
  #silentSince: number | null = null;
  #count = 0;

  constructor(probe: Probe, log: PoolLog | undefined) {
    this.#probe = probe;
    this.#log = log;
  }

  get silent(): boolean {
    return this.#silentSince !== null;
  }

  /** How often the database has stopped answering. */
  get outages(): number {
    return this.#count;
  }

  start(): void {
    this.tick();
    this.#timer = setInterval(() => this.tick(), ASK_EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#probe.close();
  }

  tick(): void {
    if (!this.#asking) void this.#ask();
    else if (++this.#unanswered >= UNANSWERED_LIMIT && !this.silent) this.#declareSilent();
  }

  /** Notes that a statement was answered: the database responds, even if the probe is still waiting. */
  heard(): void {
    this.#unanswered = 0;
  }

  /** Breaks this session when an outage is declared, so that its statements fail and its owner connects again. */
  watch(client: pg.Client): void {
    this.#sessions.add(client);
    client.once("end", () => this.#sessions.delete(client));
  }

  spare(client: pg.ClientBase): void {
    this.#spared.add(client);
  }

  unspare(client: pg.ClientBase): void {
    this.#spared.delete(client);
  }

  /** Gets a connection from the pool. Rejects as soon as an outage is declared. */
  connect(pool: pg.Pool): Promise<pg.PoolClient> {
    if (this.silent) return Promise.reject(silence());
    return new Promise((done, failed) => {
      const giveUp = () => failed(silence());
      this.#waiting.add(giveUp);
      pool.connect().then(
        // A client that arrives after the caller gave up goes back to the pool.
        (client) => (this.#waiting.delete(giveUp) ? done(client) : client.release()),
        (error) => {
          this.#waiting.delete(giveUp);
          failed(error);
        },
      );
    });
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      await this.#probe.ask();
      this.#answered();
    } catch {
      // A refused or lost connection is not silence: statements get the same error at once, with a clearer message.
    }
    this.#asking = false;
    this.#unanswered = 0;
  }

  #answered(): void {
    if (this.#silentSince === null) return;
    const ms = Math.round(performance.now() - this.#silentSince);
    this.#silentSince = null;
    this.#log?.info?.({ ms }, "the database responds again");
  }

  #declareSilent(): void {
    this.#silentSince = performance.now();
    this.#count++;
    this.#log?.warn({}, "the database does not respond; requests are refused until it does");
    this.#probe.drop();
    for (const giveUp of this.#waiting) giveUp();
    this.#waiting.clear();
    for (const client of this.#sessions) if (!this.#spared.has(client)) cut(client);
  }
}

/** Asks on a connection of its own, which is made when there is none. */
export function probeOf(url: string): Probe {
  let client: pg.Client | null = null;
  const drop = () => {
    // Not `end()`: a client that is still connecting would then never reject `connect()`.
    if (client) cut(client);
    client = null;
  };
  return {
    async ask() {
      try {
        if (!client) {
          client = new pg.Client(probeConfig(url));
          client.on("error", () => undefined);
          await client.connect();
        }
        await client.query("SELECT 1");
      } catch (error) {
        drop();
        // A database that is starting or has no free session does respond.
        if (!(error instanceof pg.DatabaseError)) throw error;
      }
    },
    drop,
    close() {
      if (client) destroy(client);
    },
  };
}
