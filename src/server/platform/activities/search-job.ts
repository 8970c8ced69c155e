// Fills in what activities are found by, for those that earlier versions have recorded.
import { hours } from "../core/clock.ts";
import { giveWay } from "../core/concurrency/parts.ts";
import type { Job } from "../core/job.ts";
import { and, isNull, lt } from "../store/query.ts";
import { searchColumns } from "./record.ts";

const BATCH_SIZE = 500;

export const activitySearch: Job = {
  name: "activity_search",
  every: hours(1),
  async run({ store }, signal) {
    // The newest first, as they are read.
    for (let before = Number.MAX_SAFE_INTEGER; !signal.aborted; await giveWay()) {
      const rows = await store.activities.pick(["id", "type", "details", "host_id"], {
        where: and(isNull("details_text"), lt("id", before)),
        order: [{ column: "id", direction: "desc" }],
        limit: BATCH_SIZE,
      });
      const columns = await searchColumns(store, rows);
      await store.activities.updateEach(rows.map(({ id }, i) => ({ id, ...columns[i]! })));
      if (rows.length < BATCH_SIZE) return;
      before = rows.at(-1)!.id;
    }
  },
};
