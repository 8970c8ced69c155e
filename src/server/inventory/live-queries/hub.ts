// Live queries in one server: what agents ask and answer, who reads, and the upkeep in the background.
import type { LiveAnswer } from "../../platform/agent-protocol/names.ts";
import type { AgentReply } from "../../platform/agent-protocol/wire.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { eq } from "../../platform/store/query.ts";
import type { ActiveQuery } from "./active-query.ts";
import { endWhenDone } from "./ending.ts";
import { TICK_MS } from "./limits.ts";
import { Outcomes } from "./outcomes.ts";
import { Readers } from "./readers.ts";
import { lockOf } from "./tables.ts";
import { leaseEnd, Upkeep } from "./upkeep.ts";
import { type LiveChange, LiveWork } from "./work.ts";

class LiveQueries {
  readonly #services: Services;
  readonly #work: LiveWork;
  readonly #outcomes: Outcomes;
  readonly #readers = new Readers();
  readonly #upkeep: Upkeep;
  // Not an AbortSignal, which warns about more than ten listeners.
  readonly #streams = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #isStopping = false;
  #ticking: Promise<void> | null = null;

  constructor(services: Services, work: LiveWork) {
    this.#services = services;
    this.#work = work;
    this.#outcomes = new Outcomes(services, work);
    this.#upkeep = new Upkeep(services, work, this.#readers);
    this.#timer = setInterval(() => {
      if (this.#ticking === null) void this.tick();
    }, TICK_MS);
    this.#timer.unref();
  }

  get active(): ReadonlyMap<number, ActiveQuery> {
    return this.#work.active;
  }

  /** Whether a live query is waiting for the host; a single map lookup. */
  has(hostId: number): boolean {
    return this.#work.has(hostId);
  }

  /** The reply with the host's next live query; null if there is none or the host's other work has its turn. */
  ask(hostId: number, teamId: number | null, idle: boolean): AgentReply | null {
    return this.#work.ask(hostId, teamId, idle);
  }

  /** Stores the results of a host. Ignores queries that were not sent to it or already have its result. */
  storeAnswers(hostId: number, answers: ReadonlyMap<number, LiveAnswer>): Promise<void> {
    return this.#outcomes.storeAnswers(hostId, answers);
  }

  /** Registers a listener for notifications about that query. */
  onChange(id: number, listener: (change: LiveChange) => void): () => void {
    return this.#work.onChange(id, listener);
  }

  /**
   * Registers a reader until the returned function is called. The first reader starts the query, and it is not
   * cancelled while it has readers. With `keepsOpen` it does not end either when all online hosts have reported.
   */
  async attach(id: number, { keepsOpen = false }: { readonly keepsOpen?: boolean } = {}): Promise<() => void> {
    const detach = this.#readers.add(id, keepsOpen);
    const until = leaseEnd(this.#services);
    try {
      const isFreed = await this.#startReading(id, keepsOpen, until);
      if (isFreed) await endWhenDone(this.#services, id);
    } catch (error) {
      detach();
      throw error;
    }
    this.#work.setReaderUntil(id, until);
    return detach;
  }

  /** Returns whether no websocket keeps the query open any more. */
  #startReading(id: number, keepsOpen: boolean, until: string): Promise<boolean> {
    return this.#services.store.tx(
      async (tx) => {
        const row = await tx.campaigns.get(id);
        if (!row || row.status === 2) return false;
        // Started for a websocket but read through a stream: ends like queries of streams.
        const isFreed = !keepsOpen && row.status === 0 && row.socket_until !== null;
        const open = keepsOpen ? { socket_until: until } : isFreed ? { socket_until: null } : {};
        await tx.campaigns.update({ where: eq("id", id), set: { status: 1, reader_until: until, ...open } });
        return isFreed;
      },
      { lock: lockOf(id) },
    );
  }

  /** Number of this server's readers that keep queries open. */
  openReaders(): number {
    return this.#readers.openCount;
  }

  /**
   * Runs every second; tests call it too. It waits for a tick that is in progress, so that the clock is read after this
   * call.
   */
  tick(): Promise<void> {
    const mine = (this.#ticking ?? Promise.resolve())
      .then(() => this.#upkeep.run())
      .catch((err: unknown) => this.#services.log.warn({ err }, "live queries could not be maintained; retrying"))
      .finally(() => {
        if (this.#ticking === mine) this.#ticking = null;
      });
    this.#ticking = mine;
    return mine;
  }

  /** Runs every 30 seconds; tests call it too. */
  reconcile(): Promise<void> {
    return this.#upkeep.reconcile();
  }

  /** Whether the server is shutting down, so that readers and waiting callers must stop. */
  isStopping(): boolean {
    return this.#isStopping;
  }

  onStopping(listener: () => void): () => void {
    this.#streams.add(listener);
    return () => void this.#streams.delete(listener);
  }

  /** Ends every stream so that connections can close. */
  endStreams(): void {
    this.#isStopping = true;
    for (const end of [...this.#streams]) end();
  }

  async stop(): Promise<void> {
    this.endStreams();
    clearInterval(this.#timer);
    await this.#ticking;
    await this.#outcomes.idle();
    await this.#work.stop();
  }
}

export const liveQueries = startedPart(
  "live queries",
  async (services) => new LiveQueries(services, await LiveWork.start(services)),
);
