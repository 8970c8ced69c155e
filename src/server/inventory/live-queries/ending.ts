// Ends live queries: every target without an outcome gets its final state.

import { online } from "../../hosts/hosts/status.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { inBackground } from "../../platform/core/concurrency/background.ts";
import type { Context } from "../../platform/core/context.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, oneOf } from "../../platform/store/query.ts";
import { notifyServers } from "./messages.ts";
import { type CampaignRow, type EndedBy, lockOf } from "./tables.ts";

type Deps = Pick<Context, "store" | "clock" | "config" | "running" | "log" | "dryRun">;

/** With up to this many targets they are updated before the call returns, otherwise in the background. */
const SETTLED_INLINE_MAX = 1_000;

const waitingOf = (id: number) => and(eq("campaign_id", id), eq("state", "waiting"));

/**
 * Ends the query if it is running and `still` agrees. The counts are final at once; target rows are updated afterwards.
 * Returns the resulting row; null if the query does not exist.
 */
export async function endCampaign(
  services: Deps,
  id: number,
  why: EndedBy,
  still: (row: CampaignRow) => boolean = () => true,
): Promise<CampaignRow | null> {
  const { store, clock } = services;
  let ended = false;
  const after = await store.tx(
    async (tx) => {
      ended = false;
      const row = await tx.campaigns.get(id);
      if (!row || row.status === 2 || !still(row)) return row;
      const now = clock.iso();
      const counts = await countsAtEnd(tx, row, why);
      await tx.campaigns.update({
        where: eq("id", id),
        set: { ...counts, status: 2, expected_count: 0, finished_at: now, updated_at: now, ended_by: why },
      });
      await recordEnd({ ...services, store: tx }, row);
      await notifyServers(tx, { kind: "end", id });
      ended = true;
      return tx.campaigns.get(id);
    },
    { lock: lockOf(id) },
  );
  if (!ended || !after) return after;
  if (after.targets_count <= SETTLED_INLINE_MAX) await settleTargets(services, after);
  else inBackground(services, "live query targets", (signal) => settleTargets(services, after, signal));
  return after;
}

/** Targets of deleted hosts have no row any more; they count as offline. */
async function countsAtEnd(tx: ServerTx, row: CampaignRow, why: EndedBy) {
  const left = Math.max(0, row.targets_count - row.answered_count - row.error_count);
  if (why === "cancelled" || why === "unread") return { cancelled_count: left };
  const late = await tx.campaignHosts.count(and(waitingOf(row.id), eq("reached", true)));
  return { timed_out_count: late, offline_count: Math.max(0, left - late) };
}

async function recordEnd(ctx: Deps, row: CampaignRow): Promise<void> {
  const user = row.user_id === null ? null : await ctx.store.users.get(row.user_id);
  if (!user) return;
  const query = row.query_id === null ? null : await ctx.store.queries.get(row.query_id);
  await recordActivity({ ...ctx, user: await viewerOf(ctx.store, user, null) }, "live_query", {
    targets_count: row.targets_count,
    query_sql: row.query,
    ...(query === null ? {} : { query_name: query.name, stats: { ...query.stats } }),
  });
}

/** Sets the final state of waiting targets of an ended query. Safe to repeat after a crash. */
export async function settleTargets(
  { store, clock }: Pick<Deps, "store" | "clock">,
  row: Pick<CampaignRow, "id" | "ended_by">,
  signal?: AbortSignal,
): Promise<void> {
  const cancelled = row.ended_by === "cancelled" || row.ended_by === "unread";
  const ended_at = clock.iso();
  while (!signal?.aborted) {
    const left = await store.campaignHosts.pick(["id", "reached"], {
      where: waitingOf(row.id),
      limit: SETTLED_INLINE_MAX,
    });
    for (const reached of [true, false]) {
      const ids = left.filter((target) => target.reached === reached).map(({ id }) => id);
      const state = cancelled ? "cancelled" : reached ? "timed_out" : "offline";
      if (ids.length > 0) await store.campaignHosts.update({ where: oneOf("id", ids), set: { state, ended_at } });
    }
    if (left.length < SETTLED_INLINE_MAX) return;
  }
}

/** Online targets without a result. */
export const expectedOf = (id: number, now: number) => and(waitingOf(id), exists(hosts, "id", online(now), "host_id"));

const isKeptOpen = ({ socket_until }: CampaignRow, now: number): boolean =>
  socket_until !== null && now < Date.parse(socket_until);

/**
 * Ends the query when no online target is left without a result. A query that waits for hosts (`queue_until`) ends when
 * all targets have reported; one that is read through a websocket does not end here.
 */
export async function endWhenDone(services: Deps, id: number): Promise<void> {
  const { store, clock } = services;
  const row = await store.campaigns.get(id);
  if (!row || row.status === 2 || isKeptOpen(row, clock.now())) return;
  const waits = row.queue_until === null ? expectedOf(id, clock.now()) : waitingOf(id);
  if ((await store.campaignHosts.first({ where: waits })) !== null) return;
  await endCampaign(services, id, "answered", (current) => !isKeptOpen(current, clock.now()));
}

/** Ends the query because its websocket was closed by the reader. */
export async function endByReader(services: Deps, id: number): Promise<void> {
  const { store, clock } = services;
  const left = await store.campaignHosts.first({ where: expectedOf(id, clock.now()) });
  await endCampaign(services, id, left === null ? "answered" : "cancelled");
}
