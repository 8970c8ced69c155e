// The running part of live queries in one server: answers in, ends found, readers kept. Started with the agents' side.

import { isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, eq, isNull, lt, oneOf } from "../store/query.ts";
import { endCampaign, endWhenDone } from "./ending.ts";
import { READER_LEASE, RECONCILE_EVERY_MS, RECOUNT_EVERY_MS, RENEW_EVERY_MS, TICK_MS } from "./limits.ts";
import { createOutcomes, type Outcomes } from "./outcomes.ts";
import { lockOf } from "./tables.ts";
import { type Active, createWork, type Work } from "./work.ts";

export interface Live extends Pick<Work, "has" | "ask" | "onChange" | "active">, Pick<Outcomes, "take"> {
  /** Somebody reads the query, until the returned function is called: the first makes it run, and it is not cancelled meanwhile. */
  attach(id: number): Promise<() => void>;
  /** What is done every second; for tests too. */
  tick(): Promise<void>;
  /** What is done every half minute; for tests too. */
  reconcile(): Promise<void>;
  /** Whether the server is to stop: who waits or reads is let go. */
  isStopping(): boolean;
  onStopping(listener: () => void): () => void;
  /** Ends every stream, that their connections may close. */
  endStreams(): void;
  stop(): Promise<void>;
}

/** One per server: the configuration reader is the same object in the services and in every context made of them. */
const servers = new WeakMap<Services["config"], Live>();

export function liveOf({ config }: Pick<Services, "config">): Live {
  const live = servers.get(config);
  if (!live) throw new Error("live queries were not started");
  return live;
}

export async function startLive(services: Services): Promise<Live> {
  const { store, clock, config, log } = services;
  const work = await createWork(services);
  const outcomes = createOutcomes(services, work);
  const readers = new Map<number, number>();
  // A signal would warn of more than ten listeners.
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
    const row = await endCampaign(services, query.id, "unread", (current) => {
      // Another server's reader may have moved it on.
      query.readerUntil = Date.parse(current.reader_until);
      return now >= query.readerUntil;
    });
    if (row?.status === 2) log.debug({ campaign_id: query.id }, "a live query that nobody read was cancelled");
  }

  /** Hosts that were asked though they were not online at the start are waited for like those that were. */
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

  /** Whoever turns live queries off does not want those to go on that run, or wait for hosts. */
  async function endWhereOff(): Promise<void> {
    if (work.active.size === 0 || !(await config.current()).server_settings.live_query_disabled) return;
    for (const id of [...work.active.keys()]) await endCampaign(services, id, "cancelled");
  }

  async function reconcile(): Promise<void> {
    await work.reconcile();
    // Nobody can read what was started by a user who is gone.
    const orphans = await store.campaigns.pick(["id"], { where: and(lt("status", 2), isNull("user_id")) });
    for (const { id } of orphans) await endCampaign(services, id, "cancelled");
    // The hosts that it waits for may all have been deleted.
    for (const { id, queued } of [...work.active.values()]) if (queued) await endWhenDone(services, id);
  }

  async function lookAfter(): Promise<void> {
    const now = performance.now();
    await writeReached();
    await endWhereOff();
    for (const query of [...work.active.values()]) await endOverdue(query);
    if (now - lastRecount >= RECOUNT_EVERY_MS) {
      lastRecount = now;
      for (const id of readers.keys()) if (work.active.has(id)) await endWhenDone(services, id);
    }
    if (now - lastRenewal >= RENEW_EVERY_MS && readers.size > 0) {
      lastRenewal = now;
      const until = leaseEnd();
      const where = and(oneOf("id", [...readers.keys()]), lt("status", 2));
      await store.campaigns.update({ where, set: { reader_until: until } });
      for (const id of readers.keys()) setLease(id, until);
    }
    if (now - lastReconcile >= RECONCILE_EVERY_MS) {
      lastReconcile = now;
      await reconcile();
    }
  }

  function setLease(id: number, until: string): void {
    const query = work.active.get(id);
    if (query) query.readerUntil = Date.parse(until);
  }

  /** Goes by the clock as it is when it is called: one that is under way is waited for, and does not count. */
  function tick(): Promise<void> {
    const mine = (ticking ?? Promise.resolve())
      .then(lookAfter)
      .catch((err: unknown) => log.warn({ err }, "live queries could not be looked after; tried again soon"))
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

  const live: Live = {
    has: work.has,
    ask: work.ask,
    active: work.active,
    onChange: work.onChange,
    take: outcomes.take,
    async attach(id) {
      readers.set(id, (readers.get(id) ?? 0) + 1);
      const until = leaseEnd();
      let attached = true;
      const detach = () => {
        if (!attached) return;
        attached = false;
        const left = (readers.get(id) ?? 1) - 1;
        if (left > 0) readers.set(id, left);
        else readers.delete(id);
      };
      try {
        await store.tx(
          async (tx) => {
            const row = await tx.campaigns.get(id);
            if (!row || row.status === 2) return;
            await tx.campaigns.update({ where: eq("id", id), set: { status: 1, reader_until: until } });
          },
          { lock: lockOf(id) },
        );
      } catch (error) {
        detach();
        throw error;
      }
      setLease(id, until);
      return detach;
    },
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
  servers.set(services.config, live);
  return live;
}
