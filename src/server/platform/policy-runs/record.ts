import { parts } from "../core/concurrency/parts.ts";
import type { Context } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { oneOf } from "../store/query.ts";

interface PolicyRun {
  readonly policyId: number;
  readonly hostIds: readonly number[];
  /** The entry of the activity feed that says what was done. */
  readonly activityId: number;
  readonly isSuccess: boolean;
}

/** Records what an automation of the policy did on hosts, in the transaction that records its activity. */
export async function recordRuns(
  { store, clock }: Pick<Context, "store" | "clock">,
  { policyId, hostIds, activityId, isSuccess }: PolicyRun,
): Promise<void> {
  const created_at = clock.iso();
  const status = isSuccess ? ("success" as const) : ("error" as const);
  for await (const part of parts(hostIds))
    await store.policyRuns.insertMany(
      part.map((host_id) => ({ created_at, policy_id: policyId, host_id, activity_id: activityId, status })),
      { returning: [] },
    );
}

export async function forgetRuns(store: Pick<ServerTx, "policyRuns">, hostIds: readonly number[]): Promise<void> {
  await store.policyRuns.delete(oneOf("host_id", hostIds));
}
