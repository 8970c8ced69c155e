// Fills in what activities are found by, for those that earlier versions have recorded.
import { days, hours, isoAt } from "../core/clock.ts";
import { giveWay } from "../core/concurrency/parts.ts";
import type { Job } from "../core/job.ts";
import { part } from "../core/running.ts";
import { and, everything, gt, isNull, lt } from "../store/query.ts";
import { teamsOfHosts } from "./hosts.ts";
import { hostIn, searchColumns } from "./search.ts";

const BATCH_SIZE = 500;
/** How far back later runs look: a server of an earlier version that still runs beside this one records such entries. */
const RECENT = days(2);

/** Whether this server has looked through all entries. To do that again would only take time. */
const progress = part("progress of activity_search", () => ({ isComplete: false }));

export const activitySearch: Job = {
  name: "activity_search",
  every: hours(1),
  async run({ store, clock, running }, signal) {
    const state = running.of(progress);
    const searched = state.isComplete ? gt("created_at", isoAt(clock.now() - RECENT)) : everything;
    // The newest first, as they are read.
    for (let before = Number.MAX_SAFE_INTEGER; !signal.aborted; await giveWay()) {
      const rows = await store.activities.pick(["id", "type", "details", "host_id"], {
        where: and(searched, isNull("details_text"), lt("id", before)),
        order: [{ column: "id", direction: "desc" }],
        limit: BATCH_SIZE,
      });
      // Transfers name many hosts, which have other teams by now: only the host that an entry is about counts.
      const hostOf = new Map(rows.map((row) => [row.id, row.host_id ?? hostIn(row) ?? 0]));
      const teams = await teamsOfHosts(store, hostOf.values());
      await store.activities.updateEach(
        rows.map((row) => ({ id: row.id, ...searchColumns(row, teams.get(hostOf.get(row.id)!) ?? []) })),
      );
      if (rows.length < BATCH_SIZE) {
        state.isComplete = true;
        return;
      }
      before = rows.at(-1)!.id;
    }
  },
};
