import { isoAt } from "../../platform/core/clock.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, exists, isNull, lt, not, oneOf, or } from "../../platform/store/query.ts";
import { settleTargets } from "./ending.ts";
import {
  CLEANUP_EVERY,
  KEPT_AT_LEAST,
  KEPT_BYTES_MAX,
  KEPT_FOR,
  QUEUED_KEPT_FOR,
  RUNNING_MAX,
  TARGET_BYTES,
} from "./limits.ts";
import { removeCampaigns } from "./removal.ts";
import { campaignHosts } from "./tables.ts";

/** Deletes ended live queries and their results after a while, or sooner if they take too much space. */
export const liveQueryCleanup: Job = {
  name: "live_query_cleanup",
  every: CLEANUP_EVERY,
  async run({ store, clock }, signal) {
    const now = clock.now();
    // A server that crashed while a query was ending may have left targets without an outcome.
    const torn = await store.campaigns.list({
      where: and(eq("status", 2), exists(campaignHosts, "campaign_id", eq("state", "waiting"))),
    });
    for (const row of torn) await settleTargets({ store, clock }, row, signal);

    const over = eq("status", 2);
    const old = and(over, isNull("queue_until"), lt("finished_at", isoAt(now - KEPT_FOR)));
    const queued = and(over, not(isNull("queue_until")), lt("finished_at", isoAt(now - QUEUED_KEPT_FOR)));
    // The server crashed while it wrote the targets, so this query never started.
    const stillborn = and(eq("targets_count", 0), lt("created_at", isoAt(now - RUNNING_MAX)));
    const gone = (await store.campaigns.pick(["id"], { where: or(old, queued, stillborn) })).map(({ id }) => id);

    const kept = await store.campaigns.pick(["id", "bytes", "targets_count", "finished_at"], {
      where: and(over, not(oneOf("id", gone))),
      order: [{ column: "finished_at", direction: "desc" }],
    });
    let bytes = 0;
    for (const row of kept) {
      bytes += row.bytes + row.targets_count * TARGET_BYTES;
      if (bytes > KEPT_BYTES_MAX && Date.parse(row.finished_at!) < now - KEPT_AT_LEAST) gone.push(row.id);
    }
    await removeCampaigns(store, gone, signal);
  },
};
