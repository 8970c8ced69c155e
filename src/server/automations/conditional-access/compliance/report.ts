// Reports to the directory which devices comply: those whose state differs from what the directory has accepted last. Any
// server may do any step. A row is leased while it is sent, so that an earlier state never follows a later one. It is due
// again if it changes in the meantime, or if its server dies.

import { DirectoryClient } from "../../../hosts/directory/client.ts";
import { credentialsRow } from "../../../hosts/directory/credentials.ts";
import { DEVICES_IN_BATCH, type DeviceOutcome, reportDevices } from "../../../hosts/directory/devices.ts";
import { DirectoryError } from "../../../hosts/directory/problems.ts";
import { isoAt, minutes, seconds } from "../../../platform/core/clock.ts";
import { heldBy, isFree, newLease, noLease } from "../../../platform/core/concurrency/lease.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import { isPremium, type Services } from "../../../platform/core/context.ts";
import { and, eq, isNull, lte, not, oneOf, or } from "../../../platform/store/query.ts";
import { type DeviceRow, decide } from "./decide.ts";
import { recordPause, recordSuccess, reportingRow } from "./pauses.ts";
import { recordOutcomes, type SentState, storeSettled } from "./record.ts";

/** Rows per step; the lease is longer than their batches take. */
const BATCH_SIZE = 2 * DEVICES_IN_BATCH;

interface Target {
  readonly client: DirectoryClient;
  /** GUID in lower case. */
  readonly tenant: string;
}

/** The connected directory; null if there is none, or no credentials for it. */
async function connectedTenant(services: Pick<Services, "store" | "config" | "license">): Promise<string | null> {
  if (!isPremium(services)) return null;
  const { conditional_access: access } = await services.config.current();
  return access.directory_connection_configured ? access.directory_tenant_id.toLowerCase() : null;
}

async function targetOf(services: Services): Promise<Target | null> {
  const tenant = await connectedTenant(services);
  if (tenant === null) return null;
  const credentials = await credentialsRow(services.store);
  return credentials?.tenant_id === tenant ? { tenant, client: new DirectoryClient(services, credentials) } : null;
}

export async function reportDue(services: Services, signal: AbortSignal): Promise<void> {
  const target = await targetOf(services);
  if (target === null) return;
  while (!signal.aborted) {
    const { paused_until = null } = (await reportingRow(services.store)) ?? {};
    if (paused_until !== null && paused_until > services.clock.iso()) return;
    const claim = await claimDue(services);
    if (claim.rows.length === 0) return;
    try {
      if (!(await reportStep(services, target, claim))) return;
    } finally {
      // What was not sent.
      await services.store.directoryDevices.update({
        where: heldBy(claim),
        set: { ...noLease, due_at: services.clock.iso() },
      });
    }
  }
}

interface Claim {
  readonly runner: string;
  readonly rows: readonly DeviceRow[];
}

/** Rows that no other server is at. */
function claimDue(services: Services): Promise<Claim> {
  const lease = newLease(services);
  return services.store.tx(
    async (tx) => {
      const isAbandoned = not(isNull("runner_until"));
      const where = and(or(lte("due_at", services.clock.iso()), isAbandoned), isFree(services));
      const rows = await tx.directoryDevices.list({ where, limit: BATCH_SIZE });
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0)
        await tx.directoryDevices.update({ where: oneOf("id", ids), set: { ...lease, due_at: null } });
      return { runner: lease.runner, rows };
    },
    { lock: "directory-devices" },
  );
}

/** False if the directory takes nothing more for now. */
async function reportStep(services: Services, target: Target, claim: Claim): Promise<boolean> {
  const decisions = await decide(services, claim.rows, target.tenant);
  const toSend: SentState[] = [];
  const settled: { row: DeviceRow; error: string }[] = [];
  const forgotten: DeviceRow[] = [];
  for (const row of claim.rows) {
    const decision = decisions.get(row.id)!;
    if (decision.type === "send") toSend.push({ row, ...decision });
    else if (decision.type === "forget") forgotten.push(row);
    else settled.push({ row, error: decision.error });
  }
  await storeSettled(services, claim, settled, forgotten);
  for await (const batch of parts(toSend, DEVICES_IN_BATCH))
    if (!(await sendBatch(services, target, claim, batch))) return false;
  return true;
}

async function sendBatch(
  services: Services,
  target: Target,
  claim: Claim,
  batch: readonly SentState[],
): Promise<boolean> {
  let outcomes: DeviceOutcome[];
  try {
    outcomes = await reportDevices(
      target.client,
      batch.map(({ state }) => state),
      services.settings.directory_compliance_attribute,
    );
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error;
    services.metrics.directoryReports.inc({ outcome: error.problem }, batch.length);
    await recordPause(services, error);
    return false;
  }
  for (const outcome of outcomes)
    services.metrics.directoryReports.inc({ outcome: "error" in outcome ? outcome.error.problem : "accepted" });
  await recordOutcomes(services, target.tenant, claim, batch, outcomes);
  const busy = outcomes.flatMap((outcome) =>
    "error" in outcome && outcome.error.problem === "busy" ? [outcome.error] : [],
  );
  if (outcomes.some((outcome) => !("error" in outcome))) await recordSuccess(services);
  if (busy.length === 0) return true;
  const longest = Math.max(...busy.map(({ retryAfter }) => retryAfter ?? seconds(30)));
  await recordPause(services, new DirectoryError("busy", busy[0]!.message, Math.min(longest, minutes(60))));
  return false;
}

/** Has the devices compared whose state differs from what was reported: settings, teams or labels have changed. */
export async function compareAll(services: Services, signal: AbortSignal): Promise<void> {
  const tenant = await connectedTenant(services);
  if (tenant === null) return;
  const { store, clock } = services;
  for await (const rows of store.directoryDevices.pages({ where: eq("due_at", null) }, 500)) {
    if (signal.aborted) return;
    const decisions = await decide(services, rows, tenant);
    const ids = rows.flatMap((row) => {
      const decision = decisions.get(row.id)!;
      return decision.type !== "settled" || decision.error !== row.last_error ? [row.id] : [];
    });
    if (ids.length > 0)
      await store.directoryDevices.update({
        where: and(oneOf("id", ids), eq("due_at", null)),
        set: { due_at: isoAt(clock.now()) },
      });
  }
}
