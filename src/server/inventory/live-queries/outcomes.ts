// Stores results of live queries before they are acknowledged to the agent.

import type { LiveAnswer } from "../../platform/agent-protocol/names.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { StoreUnavailable } from "../../platform/store/store.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { endWhenDone } from "./ending.ts";
import { ANSWERS_MAX, CAMPAIGN_BYTES_MAX } from "./limits.ts";
import { notifyServers } from "./messages.ts";
import { type StoredResult, storedResult } from "./rows.ts";
import { type CampaignRow, type campaignHosts, lockOf, placeOf } from "./tables.ts";
import type { LiveWork } from "./work.ts";

interface Item {
  readonly id: number;
  readonly hostId: number;
  readonly result: StoredResult;
}

const BATCH_SIZE = 64;
/** Maximum size of the rows written in one transaction. */
const BATCH_BYTES = 8 * 1024 * 1024;

type Deps = Pick<Services, "store" | "clock" | "config" | "running" | "log" | "dryRun">;

export class Outcomes {
  readonly #services: Deps;
  readonly #work: LiveWork;
  readonly #batches: Batcher<Item, null>;

  constructor(services: Deps, work: LiveWork) {
    this.#services = services;
    this.#work = work;
    this.#batches = new Batcher<Item, null>((items) => this.#writeBatch(items), {
      size: BATCH_SIZE,
      parallel: services.store.engine === "lowdb" ? 1 : 2,
    });
  }

  /** Stores the results of a host. Ignores queries that were not sent to it or already have its result. */
  async storeAnswers(hostId: number, answers: ReadonlyMap<number, LiveAnswer>): Promise<void> {
    const stored: Promise<null>[] = [];
    for (const [id, answer] of [...answers].slice(0, ANSWERS_MAX))
      if (await this.#work.awaits(id, hostId))
        stored.push(this.#batches.add({ id, hostId, result: storedResult(answer) }));
    await Promise.all(stored);
  }

  idle(): Promise<void> {
    return this.#batches.idle();
  }

  async #writeBatch(items: readonly Item[]): Promise<null[]> {
    const byQuery = new Map<number, Item[]>();
    for (const item of items) byQuery.set(item.id, [...(byQuery.get(item.id) ?? []), item]);
    for (const [id, group] of byQuery) {
      let mayBeOver = false;
      for (const part of parts(group))
        if (await (part.length === 1 ? this.#writeAlone(part[0]!) : this.#write(id, part))) mayBeOver = true;
      if (mayBeOver) await endWhenDone(this.#services, id);
    }
    return items.map(() => null);
  }

  async #writeAlone(item: Item): Promise<boolean> {
    try {
      return await this.#write(item.id, [item]);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // A retry would fail again, and the host would never be done.
      this.#services.log.error(
        { err: error, host_id: item.hostId, campaign_id: item.id },
        "a result of a live query could not be stored",
      );
      const result = { rows: [], bytes: 0, error: "the result could not be stored", stats: null };
      return this.#write(item.id, [{ ...item, result }]);
    }
  }

  /** Writes results of one query. Returns whether the query may be complete. */
  #write(id: number, items: readonly Item[]): Promise<boolean> {
    const { store, clock } = this.#services;
    return store.tx(
      async (tx) => {
        const row = await tx.campaigns.get(id);
        if (!row || row.status === 2) return false;
        // If a host appears twice, its first result counts.
        const byHost = new Map(items.toReversed().map(({ hostId, result }) => [hostId, result]));
        const targets = await tx.campaignHosts.pick(["id", "host_id", "reached"], {
          where: and(eq("campaign_id", id), oneOf("host_id", [...byHost.keys()]), eq("state", "waiting")),
        });
        if (targets.length === 0) return false;
        const now = clock.iso();
        const { changes, counts } = outcomesOf(row, targets, byHost, now);
        await tx.campaignHosts.updateEach(changes);
        await tx.campaigns.update({ where: eq("id", id), set: { ...counts, updated_at: now } });
        await notifyServers(tx, { kind: "out", id, hosts: targets.map(({ host_id }) => host_id) });
        const { answered_count, error_count, expected_count } = counts;
        return expected_count <= 0 && (row.queue_until === null || answered_count + error_count >= row.targets_count);
      },
      { lock: lockOf(id) },
    );
  }
}

type Target = Pick<RowOf<typeof campaignHosts>, "id" | "host_id" | "reached">;

/** The changes of the targets, numbered in their order, and the counts of the query with them. */
function outcomesOf(
  row: CampaignRow,
  targets: readonly Target[],
  results: ReadonlyMap<number, StoredResult>,
  now: string,
) {
  let { last_seq, bytes, answered_count, with_rows_count, error_count, expected_count } = row;
  const changes = targets.map((target) => {
    const result = within(results.get(target.host_id)!, CAMPAIGN_BYTES_MAX - bytes);
    last_seq++;
    bytes += result.bytes;
    if (target.reached) expected_count--;
    if (result.error !== null) error_count++;
    else answered_count++;
    if (result.rows.length > 0) with_rows_count++;
    return {
      id: target.id,
      state: result.error === null ? ("answered" as const) : ("error" as const),
      place: placeOf(row.id, last_seq),
      error: result.error,
      row_count: result.rows.length,
      bytes: result.bytes,
      rows: result.rows.length > 0 ? result.rows : null,
      stats: result.stats,
      ended_at: now,
    };
  });
  return { changes, counts: { last_seq, bytes, answered_count, with_rows_count, error_count, expected_count } };
}

function within(result: StoredResult, room: number): StoredResult {
  if (result.bytes <= room) return result;
  const error = "the result was not stored: the live query has reached its size limit";
  return { rows: [], bytes: 0, error, stats: result.stats };
}

function parts(items: readonly Item[]): Item[][] {
  const batches: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (bytes + item.result.bytes > BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(item);
    bytes += item.result.bytes;
  }
  return batches;
}
