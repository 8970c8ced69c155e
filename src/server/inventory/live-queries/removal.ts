import type { ServerStore } from "../../platform/core/tables.ts";
import { and, eq, lt, oneOf } from "../../platform/store/query.ts";

/** Targets deleted per transaction, few enough not to block other writers. */
const BATCH_SIZE = 2_000;

/** Deletes live queries with their results, in small transactions. */
export async function removeCampaigns(store: ServerStore, ids: readonly number[], signal: AbortSignal): Promise<void> {
  for (const id of ids) {
    for (;;) {
      if (signal.aborted) return;
      const targets = await store.campaignHosts.pick(["id"], { where: eq("campaign_id", id), limit: BATCH_SIZE });
      const ids = targets.map((target) => target.id);
      if (ids.length > 0) await store.campaignHosts.delete(oneOf("id", ids));
      if (ids.length < BATCH_SIZE) break;
    }
    await store.campaigns.delete(eq("id", id));
  }
}

/** Deletes live queries that ended before `time`. */
export async function removeEndedBefore(store: ServerStore, time: string, signal: AbortSignal): Promise<void> {
  const ended = await store.campaigns.pick(["id"], { where: and(eq("status", 2), lt("finished_at", time)) });
  await removeCampaigns(
    store,
    ended.map(({ id }) => id),
    signal,
  );
}
