// What each server does regularly for live queries: it extends leases, ends queries, and stores which hosts came online.
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, isNull, lt, oneOf } from "../../platform/store/query.ts";
import type { ActiveQuery } from "./active-query.ts";
import { endCampaign, endWhenDone } from "./ending.ts";
import { READER_LEASE, RECONCILE_EVERY_MS, RECOUNT_EVERY_MS, RENEW_EVERY_MS } from "./limits.ts";
import type { Readers } from "./readers.ts";
import { lockOf } from "./tables.ts";
import type { LiveWork } from "./work.ts";

/** When a reader's lease ends that is extended now. */
export const leaseEnd = ({ clock }: Pick<Services, "clock">): string => isoAt(clock.now() + READER_LEASE);

export class Upkeep {
  readonly #services: Services;
  readonly #work: LiveWork;
  readonly #readers: Readers;
  #lastRecount = performance.now();
  #lastRenewal = this.#lastRecount;
  #lastReconcile = this.#lastRecount;

  constructor(services: Services, work: LiveWork, readers: Readers) {
    this.#services = services;
    this.#work = work;
    this.#readers = readers;
  }

  async run(): Promise<void> {
    const now = performance.now();
    await this.#writeReached();
    await this.#endIfDisabled();
    for (const query of [...this.#work.active.values()]) await this.#endOverdue(query);
    // Before the recount, which would end a query whose lease expired while this server was suspended.
    if (now - this.#lastRenewal >= RENEW_EVERY_MS && this.#readers.ids().length > 0) {
      this.#lastRenewal = now;
      await this.#renewLeases();
    }
    if (now - this.#lastRecount >= RECOUNT_EVERY_MS) {
      this.#lastRecount = now;
      for (const id of this.#readers.ids()) if (this.#work.active.has(id)) await endWhenDone(this.#services, id);
    }
    if (now - this.#lastReconcile >= RECONCILE_EVERY_MS) {
      this.#lastReconcile = now;
      await this.reconcile();
    }
  }

  async reconcile(): Promise<void> {
    await this.#work.reconcile();
    // Queries of a deleted user have no possible reader.
    const where = and(lt("status", 2), isNull("user_id"));
    const orphans = await this.#services.store.campaigns.pick(["id"], { where });
    for (const { id } of orphans) await endCampaign(this.#services, id, "cancelled");
    // All hosts that it waits for may have been deleted.
    for (const { id, queued } of [...this.#work.active.values()]) if (queued) await endWhenDone(this.#services, id);
  }

  /** Marks hosts that came online after the start as reached, so that their results are expected like the others. */
  async #writeReached(): Promise<void> {
    const reached = this.#work.takeReached();
    for (const [id, hosts] of [...reached]) {
      try {
        await this.#writeReachedHosts(id, hosts);
        reached.delete(id);
      } catch (error) {
        this.#work.returnReached(reached);
        throw error;
      }
    }
  }

  async #writeReachedHosts(id: number, hosts: readonly number[]): Promise<void> {
    await this.#services.store.tx(
      async (tx) => {
        const row = await tx.campaigns.get(id);
        if (!row || row.status === 2) return;
        const count = await tx.campaignHosts.update({
          where: and(eq("campaign_id", id), oneOf("host_id", hosts), eq("state", "waiting"), eq("reached", false)),
          set: { reached: true },
        });
        const set = { expected_count: row.expected_count + count };
        if (count > 0) await tx.campaigns.update({ where: eq("id", id), set });
      },
      { lock: lockOf(id) },
    );
  }

  /** Disabling live queries also ends running and queued ones. */
  async #endIfDisabled(): Promise<void> {
    const { active } = this.#work;
    if (active.size === 0 || !(await this.#services.config.current()).server_settings.live_query_disabled) return;
    for (const id of [...active.keys()]) await endCampaign(this.#services, id, "cancelled");
  }

  async #endOverdue(query: ActiveQuery): Promise<void> {
    const now = this.#services.clock.now();
    if (now >= query.expiresAt) {
      await endCampaign(this.#services, query.id, "time");
      return;
    }
    if (query.queued || now < query.readerUntil || this.#readers.has(query.id)) return;
    await endWhenDone(this.#services, query.id);
    const row = await endCampaign(this.#services, query.id, "unread", (current) => {
      // A reader of another server may have extended the lease.
      query.readerUntil = Date.parse(current.reader_until);
      return now >= query.readerUntil;
    });
    if (row?.ended_by === "unread")
      this.#services.log.debug({ campaign_id: query.id }, "a live query without readers was cancelled");
  }

  async #renewLeases(): Promise<void> {
    const { store } = this.#services;
    const until = leaseEnd(this.#services);
    const running = (ids: readonly number[]) => and(oneOf("id", ids), lt("status", 2));
    const ids = this.#readers.ids();
    await store.campaigns.update({ where: running(ids), set: { reader_until: until } });
    const open = ids.filter((id) => this.#readers.keepOpen(id));
    if (open.length > 0) await store.campaigns.update({ where: running(open), set: { socket_until: until } });
    for (const id of ids) this.#work.setReaderUntil(id, until);
  }
}
