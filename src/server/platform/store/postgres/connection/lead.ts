// Leader election: the leader has a session-level advisory lock, which Postgres releases when the session ends for
// any reason.
import type pg from "pg";
import { connectClient, destroy, type PoolLog } from "./pool.ts";
import { lockNumber } from "./runner.ts";
import type { Watchdog } from "./watchdog.ts";

interface LeadOptions {
  readonly url: string;
  readonly name: string;
  readonly log: PoolLog | undefined;
  /** How often other servers try to become the leader, and how often the leader checks that its session is alive. */
  readonly everyMs: number;
  readonly watchdog: Watchdog;
}

/** Calls `onElected` each time this server becomes the leader, until it is stopped. */
export class Candidacy {
  readonly #options: LeadOptions;
  readonly #onElected: (lost: AbortSignal) => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: LeadOptions, onElected: (lost: AbortSignal) => Promise<void>) {
    this.#options = options;
    this.#onElected = onElected;
    this.#running = this.#run();
  }

  /** Resolves when `onElected` has returned. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { url, name, log, everyMs, watchdog } = this.#options;
    const { signal } = this.#stopping;
    let candidate: pg.Client | null = null;
    while (!signal.aborted) {
      try {
        candidate ??= await connectClient(url, { watchdog });
        if (await this.#isElected(candidate)) {
          await this.#lead(candidate);
          candidate = null;
        }
      } catch (error) {
        log?.warn({ err: error, name }, "leader election failed; it will be retried");
        if (candidate) destroy(candidate);
        candidate = null;
      }
      // Pauses even if the leader's work returned immediately, so that the loop does not spin.
      await pause(everyMs * (0.75 + Math.random() / 2), signal);
    }
    if (candidate) destroy(candidate);
  }

  async #isElected(candidate: pg.Client): Promise<boolean> {
    const { rows } = await candidate.query<{ held: boolean }>(
      `SELECT pg_try_advisory_lock(${lockNumber(`lead ${this.#options.name}`)}) AS held`,
    );
    return rows[0]?.held === true;
  }

  async #lead(client: pg.Client): Promise<void> {
    const { name, log, everyMs } = this.#options;
    const { signal } = this.#stopping;
    const lost = new AbortController();
    const lose = () => lost.abort();
    client.on("end", lose);
    client.on("error", lose);
    signal.addEventListener("abort", lose, { once: true });
    const proof = setInterval(() => void this.#prove(client, lose), everyMs);
    try {
      if (signal.aborted) lose();
      await this.#onElected(lost.signal);
    } catch (error) {
      log?.warn({ err: error, name }, "the leader's work failed");
    } finally {
      clearInterval(proof);
      signal.removeEventListener("abort", lose);
      destroy(client);
    }
  }

  /** Checks that the session is alive. */
  async #prove(client: pg.Client, lose: () => void): Promise<void> {
    const late = setTimeout(lose, this.#options.everyMs);
    await client.query("SELECT 1").catch(lose);
    clearTimeout(late);
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    if (signal.aborted) return done();
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      done();
    }
    signal.addEventListener("abort", finish, { once: true });
  });
