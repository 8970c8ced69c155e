// Stores results of live queries before they are acknowledged to the agent.

import type { LiveAnswer } from "../../platform/agent-protocol/names.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { StoreUnavailable } from "../../platform/store/store.ts";
import { endWhenDone } from "./ending.ts";
import { ANSWERS_MAX, CAMPAIGN_BYTES_MAX } from "./limits.ts";
import { notifyServers } from "./messages.ts";
import { keep, type StoredResult } from "./rows.ts";
import { lockOf, placeOf } from "./tables.ts";
import type { Work } from "./work.ts";

interface Item {
  readonly id: number;
  readonly hostId: number;
  readonly kept: StoredResult;
}

export interface Outcomes {
  /** Stores the results of a host. Ignores queries that were not sent to it or already have its result. */
  take(hostId: number, answers: ReadonlyMap<number, LiveAnswer>): Promise<void>;
  idle(): Promise<void>;
}

const BATCH_SIZE = 64;
/** Maximum size of the rows written in one transaction. */
const BATCH_BYTES = 8 * 1024 * 1024;

type Deps = Pick<Services, "store" | "clock" | "config" | "running" | "log" | "dryRun">;

export function createOutcomes(services: Deps, work: Work): Outcomes {
  const { store, clock, log } = services;

  /** Writes results of one query. Returns whether the query may be complete. */
  async function write(id: number, items: readonly Item[]): Promise<boolean> {
    return store.tx(
      async (tx) => {
        const row = await tx.campaigns.get(id);
        if (!row || row.status === 2) return false;
        // If a host appears twice, its first result counts.
        const byHost = new Map(items.toReversed().map(({ hostId, kept }) => [hostId, kept]));
        const targets = await tx.campaignHosts.pick(["id", "host_id", "reached"], {
          where: and(eq("campaign_id", id), oneOf("host_id", [...byHost.keys()]), eq("state", "waiting")),
        });
        if (targets.length === 0) return false;
        const now = clock.iso();
        let { last_seq, bytes, answered_count, with_rows_count, error_count, expected_count } = row;
        const changes = targets.map((target) => {
          const kept = within(byHost.get(target.host_id)!, CAMPAIGN_BYTES_MAX - bytes);
          last_seq++;
          bytes += kept.bytes;
          if (target.reached) expected_count--;
          if (kept.error !== null) error_count++;
          else answered_count++;
          if (kept.rows.length > 0) with_rows_count++;
          return {
            id: target.id,
            state: kept.error === null ? ("answered" as const) : ("error" as const),
            place: placeOf(id, last_seq),
            error: kept.error,
            row_count: kept.rows.length,
            bytes: kept.bytes,
            rows: kept.rows.length > 0 ? kept.rows : null,
            stats: kept.stats,
            ended_at: now,
          };
        });
        await tx.campaignHosts.updateEach(changes);
        await tx.campaigns.update({
          where: eq("id", id),
          set: { last_seq, bytes, answered_count, with_rows_count, error_count, expected_count, updated_at: now },
        });
        await notifyServers(tx, { kind: "out", id, hosts: targets.map(({ host_id }) => host_id) });
        return expected_count <= 0 && (row.queue_until === null || answered_count + error_count >= row.targets_count);
      },
      { lock: lockOf(id) },
    );
  }

  async function writeAlone(item: Item): Promise<boolean> {
    try {
      return await write(item.id, [item]);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // A retry would fail again, and the host would never be done.
      log.error(
        { err: error, host_id: item.hostId, campaign_id: item.id },
        "a result of a live query could not be stored",
      );
      const kept = { rows: [], bytes: 0, error: "the result could not be stored", stats: null };
      return write(item.id, [{ ...item, kept }]);
    }
  }

  async function run(items: readonly Item[]): Promise<null[]> {
    const byQuery = new Map<number, Item[]>();
    for (const item of items) byQuery.set(item.id, [...(byQuery.get(item.id) ?? []), item]);
    for (const [id, group] of byQuery) {
      let mayBeOver = false;
      for (const part of parts(group))
        if (await (part.length === 1 ? writeAlone(part[0]!) : write(id, part))) mayBeOver = true;
      if (mayBeOver) await endWhenDone(services, id);
    }
    return items.map(() => null);
  }

  const batches = new Batcher<Item, null>(run, { size: BATCH_SIZE, parallel: store.engine === "lowdb" ? 1 : 2 });

  return {
    async take(hostId, answers) {
      const stored: Promise<null>[] = [];
      for (const [id, answer] of [...answers].slice(0, ANSWERS_MAX))
        if (await work.awaits(id, hostId)) stored.push(batches.add({ id, hostId, kept: keep(answer) }));
      await Promise.all(stored);
    },
    idle: () => batches.idle(),
  };
}

function within(kept: StoredResult, room: number): StoredResult {
  if (kept.bytes <= room) return kept;
  const error = "the result was not stored: the live query has reached its size limit";
  return { rows: [], bytes: 0, error, stats: kept.stats };
}

function parts(items: readonly Item[]): Item[][] {
  const batches: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (bytes + item.kept.bytes > BATCH_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(item);
    bytes += item.kept.bytes;
  }
  return batches;
}
