// Expires approval requests that were not decided in time, and deletes old ones.
import { days, isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, eq, exists, isNull, lte, not } from "../../platform/store/query.ts";
import { approvals } from "./tables.ts";

/** How long a finished request can be read. The activity feed keeps a record beyond that. */
const KEPT_FOR = days(30);

export async function endApprovals({ store, clock }: Services): Promise<void> {
  const now = clock.iso();
  await store.approvals.update({
    where: and(eq("state", "pending"), lte("expires_at", now)),
    set: { state: "expired", finished_at: now },
  });
  await store.approvalChoices.delete(exists(approvals, "id", not(isNull("finished_at"))));
  await store.approvals.delete(lte("finished_at", isoAt(clock.now() - KEPT_FOR)));
}
