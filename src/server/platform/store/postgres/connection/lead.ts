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

/**
 * Calls `onElected` each time this server becomes the leader. The returned function stops this and waits until
 * `onElected` has returned.
 */
export function lead(
  { url, name, log, everyMs, watchdog }: LeadOptions,
  onElected: (lost: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const stop = new AbortController();
  const running = campaign();
  return async () => {
    stop.abort();
    await running;
  };

  async function campaign(): Promise<void> {
    let candidate: pg.Client | null = null;
    while (!stop.signal.aborted) {
      try {
        candidate ??= await connectClient(url, { watchdog });
        if (await elected(candidate)) {
          await reign(candidate);
          candidate = null;
        }
      } catch (error) {
        log?.warn({ err: error, name }, "leader election failed; it will be retried");
        if (candidate) destroy(candidate);
        candidate = null;
      }
      // Pauses even if the leader's work returned immediately, so that the loop does not spin.
      await pause(everyMs * (0.75 + Math.random() / 2), stop.signal);
    }
    if (candidate) destroy(candidate);
  }

  async function elected(candidate: pg.Client): Promise<boolean> {
    const { rows } = await candidate.query<{ held: boolean }>(
      `SELECT pg_try_advisory_lock(${lockNumber(`lead ${name}`)}) AS held`,
    );
    return rows[0]?.held === true;
  }

  async function reign(client: pg.Client): Promise<void> {
    const lost = new AbortController();
    const lose = () => lost.abort();
    client.on("end", lose);
    client.on("error", lose);
    stop.signal.addEventListener("abort", lose, { once: true });
    const proof = setInterval(() => void prove(client, lose), everyMs);
    try {
      if (stop.signal.aborted) lose();
      await onElected(lost.signal);
    } catch (error) {
      log?.warn({ err: error, name }, "the leader's work failed");
    } finally {
      clearInterval(proof);
      stop.signal.removeEventListener("abort", lose);
      destroy(client);
    }
  }

  async function prove(client: pg.Client, lose: () => void): Promise<void> {
    const late = setTimeout(lose, everyMs);
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
