// Delivers the outbox. One elected server sends all rows: those of one destination strictly in order of their ids, so a
// failing row delays the rows behind it until it is delivered or given up. Rows are not marked while being sent: if the
// server dies, the next leader sends them again with the same message id.
import { channels } from "../core/channels.ts";
import { wait } from "../core/concurrency/wait.ts";
import type { Services } from "../core/context.ts";
import { startedPart } from "../core/running.ts";
import { and, eq, gte } from "../store/query.ts";
import { deliver } from "./deliver.ts";
import { type Line, Lines } from "./lines.ts";
import { readWake } from "./messages.ts";
import { isDestinationDown } from "./outcome.ts";
import { recordOutcome } from "./record.ts";
import type { OutboxRow } from "./service.ts";

/** Maximum number of concurrent destinations. */
const MAX_CONCURRENT = 8;
/** Rows sent to one destination before others get their turn. */
const TURN_SIZE = 100;
/** Delay (ms) before the store is read again after it was unavailable. */
const STORE_RETRY = 1_000;
/** Maximum time (ms) between comparisons of the known lines with the store. */
const COMPARE_EVERY = 600_000;
/** Clocks of servers differ less than this (ms): a later time was written before the clock was set back. */
const CLOCKS_DIFFER = 60_000;
/** Time (ms) for running deliveries to finish at shutdown. */
const STOP_GRACE_MS = 3_000;

const byId = [{ column: "id", direction: "asc" }] as const;

interface OutboxSender {
  stop(): Promise<void>;
}

export const outbox = startedPart("outbox", startOutbox);

async function startOutbox(services: Services): Promise<OutboxSender> {
  const stopping = new AbortController();
  const resign = await services.store.lead("outbox", (lost) => new Sending(services, lost, stopping.signal).run());
  return {
    async stop() {
      stopping.abort();
      await resign();
    },
  };
}

class Sending {
  readonly #services: Services;
  /** Aborts when no new deliveries may start. */
  readonly #over: AbortSignal;
  /** Aborts running deliveries. */
  readonly #dropping = new AbortController();
  readonly #lines = new Lines();
  readonly #works = new Set<Promise<void>>();
  /** Notifications may have been missed. */
  #isStale = true;
  /** Ends the current pause. */
  #nudged = new AbortController();

  constructor(services: Services, lost: AbortSignal, stopping: AbortSignal) {
    this.#services = services;
    this.#over = AbortSignal.any([lost, stopping]);
    // Another server may be leading now, and must not overlap with requests of this one.
    lost.addEventListener("abort", () => (stopping.aborted ? undefined : this.#dropping.abort()));
  }

  async run(): Promise<void> {
    const { store, log } = this.#services;
    const stale = () => {
      this.#isStale = true;
      this.#nudge();
    };
    const unlisten = await store.listen(channels.outbox, (payload) => this.#hear(payload), stale);
    const comparing = setInterval(stale, COMPARE_EVERY);
    while (!this.#over.aborted)
      try {
        await this.#compare();
        this.#start();
        await this.#pause();
      } catch (err) {
        log.warn({ err }, "the outbox cannot be read");
        await wait(STORE_RETRY, this.#over);
      }
    clearInterval(comparing);
    const late = setTimeout(() => this.#dropping.abort(), STOP_GRACE_MS);
    await Promise.all(this.#works);
    clearTimeout(late);
    await unlisten();
  }

  #hear(payload: string): void {
    const wake = readWake(payload);
    if (wake) {
      const line = this.#lines.add(wake.destination, wake.id);
      if (wake.isUrgent) line.notBefore = 0;
      if (wake.isUrgent) line.isUrgent = line.isBusy;
    } else this.#isStale = true;
    this.#nudge();
  }

  async #compare(): Promise<void> {
    if (!this.#isStale) return;
    this.#isStale = false;
    try {
      // The store decides which rows are due: the clock may have been set back since.
      for (const { value } of await this.#services.store.outbox.groupCount("destination", eq("state", "pending")))
        this.#lines.add(String(value), 0).notBefore = 0;
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #start(): void {
    const now = this.#services.clock.now();
    for (const line of this.#lines.waiting()) {
      if (this.#works.size >= MAX_CONCURRENT || line.notBefore > now) return;
      line.isBusy = true;
      const work = this.#send(line)
        .catch((err: unknown) => {
          this.#services.log.warn({ err }, "the outbox cannot be sent now");
          line.notBefore = this.#services.clock.now() + STORE_RETRY;
        })
        .finally(() => {
          line.isBusy = false;
          if (line.isUrgent) line.notBefore = 0;
          line.isUrgent = false;
          this.#works.delete(work);
          this.#nudge();
        });
      this.#works.add(work);
    }
  }

  /** Waits until a line is due, a notification arrives, or sending ends. */
  async #pause(): Promise<void> {
    const [next] = this.#works.size < MAX_CONCURRENT ? this.#lines.waiting() : [];
    const until = next ? next.notBefore - this.#services.clock.now() : COMPARE_EVERY;
    await wait(Math.min(until, COMPARE_EVERY), this.#over, this.#nudged.signal);
    this.#nudged = new AbortController();
  }

  #nudge(): void {
    this.#nudged.abort();
  }

  /** Sends rows of the line until none are left, the first one has to wait, or the turn is over. */
  async #send(line: Line): Promise<void> {
    const { store, clock } = this.#services;
    let from = line.from ?? 0;
    // Notifications from here on concern rows that are not read below.
    line.from = null;
    try {
      for (let left = TURN_SIZE; left > 0; ) {
        const where = and(eq("destination", line.destination), eq("state", "pending"), gte("id", from));
        const heads = await store.outbox.pick(["id", "next_attempt_at", "created_at", "last_attempt_at"], {
          where,
          order: byId,
          // `after` lets the embedded engine start at this id instead of scanning all earlier rows.
          ...(from > 1 ? { after: [from - 1, from - 1] } : {}),
          limit: left,
        });
        if (heads.length === 0) return;
        left -= heads.length;
        for (const head of heads) {
          const { id } = head;
          from = id;
          const due = dueAt(head, clock.now());
          if (!this.#over.aborted && due <= clock.now() && (await this.#sendOne(line, id))) continue;
          this.#lines.add(line.destination, from);
          line.notBefore = Math.max(line.notBefore, due);
          return;
        }
        from++;
      }
      // More rows may follow.
      this.#lines.add(line.destination, from);
    } catch (error) {
      this.#lines.add(line.destination, from);
      throw error;
    }
  }

  /** Returns whether the next row may be sent immediately. */
  async #sendOne(line: Line, id: number): Promise<boolean> {
    const services = this.#services;
    const dropping = this.#dropping;
    const row = await services.store.outbox.get(id);
    if (row?.state !== "pending") return true;
    const outcome = await deliver(services, row, dropping.signal);
    if (dropping.signal.aborted && !outcome.isDelivered) return false;
    line.failures = outcome.isDelivered ? 0 : line.failures + 1;
    const after = await this.#keep(() => recordOutcome(services, row, outcome, line.failures));
    if (after === null) return false;
    const isNext = outcome.isDelivered || (after.state === "dead" && !isDestinationDown(outcome));
    if (isNext) line.failures = 0;
    line.notBefore = isNext ? 0 : Date.parse(after.nextAt);
    return isNext;
  }

  /**
   * Retries storing an outcome until the store accepts it, since sending again would duplicate it. Null if time ran
   * out.
   */
  async #keep<R>(write: () => Promise<R>): Promise<R | null> {
    for (;;)
      try {
        return await write();
      } catch (err) {
        if (this.#dropping.signal.aborted) return null;
        this.#services.log.warn({ err }, "the outcome of a delivery could not be stored; retrying");
        await wait(STORE_RETRY, this.#dropping.signal);
      }
  }
}

/** When the delivery is tried next: at once if its times were written before the clock was set back. */
function dueAt(row: Pick<OutboxRow, "next_attempt_at" | "created_at" | "last_attempt_at">, now: number): number {
  const isFuture = (time: string | null) => time !== null && Date.parse(time) > now + CLOCKS_DIFFER;
  return isFuture(row.last_attempt_at ?? row.created_at) ? now : Date.parse(row.next_attempt_at);
}
