// What became of reports, in the rows of the devices and in the activity feed.

import type { HostPolicy } from "../../../../api/hosts/host.ts";
import type { DeviceOutcome, DeviceState } from "../../../hosts/directory/devices.ts";
import type { DirectoryProblem } from "../../../hosts/directory/problems.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { hours, isoAt, minutes } from "../../../platform/core/clock.ts";
import { heldBy, noLease } from "../../../platform/core/concurrency/lease.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { recordRuns } from "../../../platform/policy-runs/record.ts";
import { and, eq, isNull, oneOf } from "../../../platform/store/query.ts";
import type { DeviceRow } from "./decide.ts";

export interface SentState {
  readonly row: DeviceRow;
  readonly state: DeviceState;
  readonly blocking: readonly HostPolicy[];
}

interface Runner {
  readonly runner: string;
}

const FIRST_WAIT = minutes(5);
/** A device that the directory does not know may be registered later, and permissions may be granted. */
const MAX_WAITS: Readonly<Record<DirectoryProblem, number>> = {
  busy: hours(1),
  unreachable: hours(1),
  credentials: hours(24),
  permission: hours(24),
  refused: hours(24),
  gone: hours(24),
};

/** Nothing is sent for these. */
export async function storeSettled(
  { store }: Services,
  claim: Runner,
  settled: readonly { readonly row: DeviceRow; readonly error: string }[],
  forgotten: readonly DeviceRow[],
): Promise<void> {
  for (const { row, error } of settled)
    await store.directoryDevices.update({
      where: and(eq("id", row.id), heldBy(claim)),
      set: { ...noLease, failures: 0, last_error: error },
    });
  const ids = forgotten.map(({ id }) => id);
  if (ids.length > 0) await store.directoryDevices.delete(and(oneOf("id", ids), heldBy(claim), eq("host_id", null)));
}

export async function recordOutcomes(
  services: Services,
  tenant: string,
  claim: Runner,
  batch: readonly SentState[],
  outcomes: readonly DeviceOutcome[],
): Promise<void> {
  const ctx = serviceContext(services);
  await services.store.tx(async (store) => {
    const inside = within(ctx, store);
    for (const [at, sent] of batch.entries()) {
      const outcome = outcomes[at]!;
      const { row } = sent;
      // Another server has taken over: it reports the device again.
      const mine = await store.directoryDevices.first({ where: and(eq("id", row.id), heldBy(claim)) });
      if (!mine) continue;
      if ("error" in outcome) await recordFailure(services, store, row, outcome);
      else await recordAccepted(services, store, row, tenant, sent);
      // Each reason is recorded once.
      const isRepeated = "error" in outcome && outcome.error.message === row.last_error;
      if (row.host_id === null || isRepeated) continue;
      for (const policy of sent.blocking) {
        const activityId = await recordBlocked(inside, policy, outcome);
        await recordRuns(inside, {
          policyId: policy.id,
          hostIds: [row.host_id],
          activityId,
          isSuccess: !("error" in outcome),
        });
      }
    }
  });
}

/** Records that the host was reported because of the policy, or why it was not. Returns the id of the activity. */
function recordBlocked(inside: Context, { id, name }: HostPolicy, outcome: DeviceOutcome): Promise<number> {
  const policy = { policy_id: id, policy_name: name };
  if (!("error" in outcome))
    return recordActivity(inside, "ran_automation_conditional_access", { ...policy, status_code: outcome.status });
  return recordActivity(inside, "failed_automation_conditional_access", {
    ...policy,
    ...(outcome.status === 0 ? {} : { status_code: outcome.status }),
    error_response: outcome.error.message,
  });
}

type Writing = Pick<ServerTx, "directoryDevices">;

async function recordAccepted(
  { clock }: Services,
  store: Writing,
  row: DeviceRow,
  tenant: string,
  { state }: SentState,
): Promise<void> {
  const isDevice = eq("id", row.id);
  if (!state.isManaged) return void (await store.directoryDevices.delete(and(isDevice, eq("host_id", null))));
  await store.directoryDevices.update({
    where: isDevice,
    set: {
      reported: state.isCompliant ? "compliant" : "noncompliant",
      reported_tenant: tenant,
      reported_at: clock.iso(),
      failures: 0,
      last_error: "",
      ...noLease,
    },
  });
}

async function recordFailure(
  { clock }: Services,
  store: Writing,
  row: DeviceRow,
  { error }: Extract<DeviceOutcome, { error: unknown }>,
): Promise<void> {
  const isDevice = eq("id", row.id);
  // The directory does not know it, so it trusts it for nothing.
  if (row.host_id === null && error.problem === "gone") return void (await store.directoryDevices.delete(isDevice));
  const wait = Math.max(
    error.retryAfter ?? 0,
    Math.min(MAX_WAITS[error.problem], FIRST_WAIT * 2 ** Math.min(row.failures, 20)),
  );
  const set = { failures: row.failures + 1, last_error: error.message, ...noLease };
  await store.directoryDevices.update({ where: isDevice, set });
  // A change in the meantime is reported at once.
  await store.directoryDevices.update({
    where: and(isDevice, isNull("due_at")),
    set: { due_at: isoAt(clock.now() + wait) },
  });
}
