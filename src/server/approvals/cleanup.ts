// The end of requests for approval: those that nobody decided in time, and the record of all of them.
import { days, isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, eq, exists, isNull, lte, not } from "../store/query.ts";
import { approvals } from "./tables.ts";

/** How long an ended one can be looked up; the activity feed has it beyond that. */
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
