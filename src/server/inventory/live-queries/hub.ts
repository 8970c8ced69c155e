// The background part of live queries in one server: stores results, ends queries and tracks readers.

import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { and, eq, isNull, lt, oneOf } from "../../platform/store/query.ts";
import { endCampaign, endWhenDone } from "./ending.ts";
import { READER_LEASE, RECONCILE_EVERY_MS, RECOUNT_EVERY_MS, RENEW_EVERY_MS, TICK_MS } from "./limits.ts";
import { createOutcomes, type Outcomes } from "./outcomes.ts";
import { createReaders } from "./readers.ts";
import { lockOf } from "./tables.ts";
import { type Active, createWork, type Work } from "./work.ts";

interface Live extends Pick<Work, "has" | "ask" | "onChange" | "active">, Pick<Outcomes, "take"> {
  /**
   * Registers a reader until the returned function is called. The first reader starts the query, and it is not
   * cancelled while it has readers. With `keepsOpen` it does not end either when all online hosts have reported.
   */
  attach(id: number, options?: { readonly keepsOpen?: boolean }): Promise<() => void>;
  /** Number of this server's readers that keep queries open. */
  openReaders(): number;
  /** Runs every second; exposed for tests. */
  tick(): Promise<void>;
  /** Runs every 30 seconds; exposed for tests. */
  reconcile(): Promise<void>;
  /** Whether the server is shutting down, so that readers and waiting callers must stop. */
  isStopping(): boolean;
  onStopping(listener: () => void): () => void;
  /** Ends every stream so that connections can close. */
  endStreams(): void;
  stop(): Promise<void>;
}

export const liveQueries = startedPart("live queries", startLive);

async function startLive(services: Services): Promise<Live> {
  const { store, clock, config, log } = services;
  const work = await createWork(services);
  const outcomes = createOutcomes(services, work);
  const readers = createReaders();
  // Not an AbortSignal, which warns about more than ten listeners.
  const streams = new Set<() => void>();
  let stopping = false;
  let lastRecount = performance.now();
  let lastRenewal = lastRecount;
  let lastReconcile = lastRecount;
  let ticking: Promise<void> | null = null;

  const leaseEnd = () => isoAt(clock.now() + READER_LEASE);

  async function endOverdue(query: Active): Promise<void> {
    const now = clock.now();
    if (now >= query.expiresAt) {
      await endCampaign(services, query.id, "time");
      return;
    }
    if (query.queued || now < query.readerUntil || readers.has(query.id)) return;
    await endWhenDone(services, query.id);
    const row = await endCampaign(services, query.id, "unread", (current) => {
      // A reader of another server may have extended the lease.
      query.readerUntil = Date.parse(current.reader_until);
      return now >= query.readerUntil;
    });
    if (row?.ended_by === "unread") log.debug({ campaign_id: query.id }, "a live query without readers was cancelled");
  }

  /** Marks hosts that came online after the start as reached, so that their results are expected like the others. */
  async function writeReached(): Promise<void> {
    const reached = work.takeReached();
    for (const [id, hosts] of [...reached]) {
      try {
        await store.tx(
          async (tx) => {
            const row = await tx.campaigns.get(id);
            if (!row || row.status === 2) return;
            const count = await tx.campaignHosts.update({
              where: and(eq("campaign_id", id), oneOf("host_id", hosts), eq("state", "waiting"), eq("reached", false)),
              set: { reached: true },
            });
            if (count > 0)
              await tx.campaigns.update({
                where: eq("id", id),
                set: { expected_count: row.expected_count + count },
              });
          },
          { lock: lockOf(id) },
        );
        reached.delete(id);
      } catch (error) {
        work.returnReached(reached);
        throw error;
      }
    }
  }

  /** Disabling live queries also ends running and queued ones. */
  async function endWhereOff(): Promise<void> {
    if (work.active.size === 0 || !(await config.current()).server_settings.live_query_disabled) return;
    for (const id of [...work.active.keys()]) await endCampaign(services, id, "cancelled");
  }

  async function reconcile(): Promise<void> {
    await work.reconcile();
    // Queries of a deleted user have no possible reader.
    const orphans = await store.campaigns.pick(["id"], { where: and(lt("status", 2), isNull("user_id")) });
    for (const { id } of orphans) await endCampaign(services, id, "cancelled");
    // All hosts that it waits for may have been deleted.
    for (const { id, queued } of [...work.active.values()]) if (queued) await endWhenDone(services, id);
  }

  async function maintain(): Promise<void> {
    const now = performance.now();
    await writeReached();
    await endWhereOff();
    for (const query of [...work.active.values()]) await endOverdue(query);
    // Before the recount, which would end a query whose lease expired while this server was suspended.
    if (now - lastRenewal >= RENEW_EVERY_MS && readers.ids().length > 0) {
      lastRenewal = now;
      await renew();
    }
    if (now - lastRecount >= RECOUNT_EVERY_MS) {
      lastRecount = now;
      for (const id of readers.ids()) if (work.active.has(id)) await endWhenDone(services, id);
    }
    if (now - lastReconcile >= RECONCILE_EVERY_MS) {
      lastReconcile = now;
      await reconcile();
    }
  }

  async function renew(): Promise<void> {
    const until = leaseEnd();
    const running = (ids: readonly number[]) => and(oneOf("id", ids), lt("status", 2));
    const ids = readers.ids();
    await store.campaigns.update({ where: running(ids), set: { reader_until: until } });
    const open = ids.filter(readers.keepOpen);
    if (open.length > 0) await store.campaigns.update({ where: running(open), set: { socket_until: until } });
    for (const id of ids) setLease(id, until);
  }

  function setLease(id: number, until: string): void {
    const query = work.active.get(id);
    if (query) query.readerUntil = Date.parse(until);
  }

  /** Runs after a tick that is in progress, so that the clock is read after this call. */
  function tick(): Promise<void> {
    const mine = (ticking ?? Promise.resolve())
      .then(maintain)
      .catch((err: unknown) => log.warn({ err }, "live queries could not be maintained; retrying"))
      .finally(() => {
        if (ticking === mine) ticking = null;
      });
    ticking = mine;
    return mine;
  }
  const timer = setInterval(() => {
    if (ticking === null) void tick();
  }, TICK_MS);
  timer.unref();

  function endStreams(): void {
    stopping = true;
    for (const end of [...streams]) end();
  }

  return {
    has: work.has,
    ask: work.ask,
    active: work.active,
    onChange: work.onChange,
    take: outcomes.take,
    async attach(id, { keepsOpen = false } = {}) {
      const detach = readers.add(id, keepsOpen);
      const until = leaseEnd();
      try {
        const isFreed = await store.tx(
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
        if (isFreed) await endWhenDone(services, id);
      } catch (error) {
        detach();
        throw error;
      }
      setLease(id, until);
      return detach;
    },
    openReaders: readers.open,
    tick,
    reconcile,
    isStopping: () => stopping,
    onStopping(listener) {
      streams.add(listener);
      return () => void streams.delete(listener);
    },
    endStreams,
    async stop() {
      endStreams();
      clearInterval(timer);
      await ticking;
      await outcomes.idle();
      await work.stop();
    },
  };
}
