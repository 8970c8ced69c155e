// A live query as servers keep it in memory while it runs, and how it is read from the store.
import { LIVE_PREFIX } from "../../platform/agent-protocol/names.ts";
import type { AgentReply } from "../../platform/agent-protocol/wire.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { type MayAsk, standingOf } from "./standing.ts";
import type { CampaignRow } from "./tables.ts";

/** A running live query. */
export interface ActiveQuery {
  readonly id: number;
  readonly reply: AgentReply;
  /** Hosts without an outcome. */
  readonly waiting: Set<number>;
  /** The hosts in `waiting` that were offline at the start and have not polled since. */
  readonly unreached: Set<number>;
  readonly queued: boolean;
  readonly expiresAt: number;
  readerUntil: number;
  /** Permissions of the user who started it, as of the last reconciliation. */
  mayAsk: MayAsk;
}

interface WaitingTarget {
  readonly host_id: number;
  readonly reached: boolean;
}

const TARGETS_PER_QUERY = 5_000;

/** `over` if it has ended or does not exist, `incomplete` while its targets are being written. */
export async function readActiveQuery(
  store: Services["store"],
  id: number,
): Promise<ActiveQuery | "over" | "incomplete"> {
  const row = await store.campaigns.get(id);
  if (!row || row.status === 2) return "over";
  if (row.targets_count === 0) return "incomplete";
  const mayAsk = await standingOf(store, row);
  const targets = await waitingTargets(store, id);
  return {
    id,
    reply: replyOf(row),
    waiting: new Set(targets.map(({ host_id }) => host_id)),
    unreached: new Set(targets.flatMap(({ host_id, reached }) => (reached ? [] : [host_id]))),
    queued: row.queue_until !== null,
    expiresAt: Date.parse(row.expires_at),
    readerUntil: Date.parse(row.reader_until),
    mayAsk,
  };
}

/** Reads in parts, so that other work is not delayed. Outcomes recorded meanwhile arrive as notifications. */
async function waitingTargets(store: Services["store"], id: number): Promise<WaitingTarget[]> {
  const targets: WaitingTarget[] = [];
  for (let last = 0; ; ) {
    const batch = await store.campaignHosts.pick(["id", "host_id", "reached"], {
      where: and(eq("campaign_id", id), eq("state", "waiting"), gt("id", last)),
      order: [{ column: "id", direction: "asc" }],
      limit: TARGETS_PER_QUERY,
    });
    for (const target of batch) targets.push(target);
    if (batch.length < TARGETS_PER_QUERY) return targets;
    last = batch.at(-1)!.id;
  }
}

/** Sent alone, because agents return the results of one read together, after the last of its queries. */
function replyOf({ id, query }: Pick<CampaignRow, "id" | "query">): AgentReply {
  const name = LIVE_PREFIX + id;
  return {
    status: 200,
    // Before 5.8, agents skip queries without a discovery query if any other query has one, so this one always has one.
    body: JSON.stringify({ queries: { [name]: query }, discovery: { [name]: "SELECT 1;" } }),
  };
}
