// Stores the result of a delivery attempt: delivered, to be retried, or given up.
import { recordActivity } from "../activities/record.ts";
import { isoAt, isoPlus } from "../core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { recordRuns } from "../policy-runs/record.ts";
import { and, eq, lte } from "../store/query.ts";
import { type DeliveryOutcome, isDestinationDown, isRefused, retryAfterOf, retryDelay } from "./outcome.ts";
import { GIVE_UP_REFUSED_AFTER, type OutboxRow } from "./service.ts";

interface After {
  readonly state: OutboxRow["state"];
  /** Earliest time of the next attempt to this destination, ISO text. */
  readonly nextAt: string;
}

/** `failures`: consecutive failed attempts of this destination, including this one. */
export async function recordOutcome(
  services: Services,
  row: OutboxRow,
  outcome: DeliveryOutcome,
  failures: number,
): Promise<After> {
  const { store, clock, log, metrics } = services;
  const now = clock.now();
  const isRefusal = row.kind === "webhook" && isRefused(outcome);
  const refused_since = row.refused_since ?? (isRefusal ? isoAt(now) : null);
  const giveUpAt = isRefusal ? isoPlus(refused_since!, GIVE_UP_REFUSED_AFTER) : row.give_up_at;
  const after = afterTry(services, { ...row, give_up_at: giveUpAt }, outcome, failures);
  let abandoned = 0;
  await store.tx(async (tx) => {
    const set = {
      attempts: row.attempts + 1,
      last_attempt_at: isoAt(now),
      refused_since,
      last_status: outcome.status,
      last_error: outcome.error,
      state: after.state,
      next_attempt_at: after.state === "pending" ? after.nextAt : row.next_attempt_at,
      result: outcome.result,
      ...(after.state === "delivered" ? { delivered_at: isoAt(now) } : {}),
    };
    await tx.outbox.update({ where: and(eq("id", row.id), eq("state", "pending")), set });
    abandoned = after.state === "dead" && isDestinationDown(outcome) ? await giveUpOverdue(tx, row, isoAt(now)) : 0;
    if (row.policy_id !== null) await recordAutomation(services, tx, row, row.policy_id, outcome, after);
  });
  metrics.outboxTries.inc({ event: row.event, outcome: after.state === "pending" ? "failed" : after.state });
  if (after.state === "dead")
    log.error(
      { delivery: row.id, message: row.message_id, event: row.event, host: hostOf(row.url), error: outcome.error },
      "a delivery was given up",
    );
  if (abandoned > 0)
    log.error(
      { count: abandoned, host: hostOf(row.url) },
      "later deliveries to the same destination were given up too",
    );
  return after;
}

function afterTry({ clock, random }: Services, row: OutboxRow, outcome: DeliveryOutcome, failures: number): After {
  const now = clock.now();
  if (outcome.isDelivered) return { state: "delivered", nextAt: isoAt(now) };
  const requestedDelay = retryAfterOf(outcome.retryAfter, now);
  const end = Date.parse(row.give_up_at);
  const delay = retryDelay(Math.max(failures, row.attempts + 1), random);
  // Makes the last attempt exactly at the end of the retry period, unless the destination requested a longer delay.
  const nextAt = Math.max(now + requestedDelay, Math.min(now + delay, end));
  return { state: now >= end || nextAt > end ? "dead" : "pending", nextAt: isoAt(nextAt) };
}

/** Gives up the rows that waited equally long behind a row that failed: trying each of them would take days. */
const giveUpOverdue = (tx: ServerTx, row: OutboxRow, now: string): Promise<number> =>
  tx.outbox.update({
    where: and(eq("destination", row.destination), eq("state", "pending"), lte("give_up_at", now)),
    set: {
      state: "dead",
      last_error: "given up without an attempt: the destination accepted nothing before the deadline",
    },
  });

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** Records activities for policy automations that were delivered, failed for the first time, or were given up. */
async function recordAutomation(
  services: Services,
  tx: ServerTx,
  row: OutboxRow,
  policyId: number,
  outcome: DeliveryOutcome,
  { state }: After,
): Promise<void> {
  if (state === "pending" && row.attempts > 0) return;
  const ctx = within(serviceContext(services), tx);
  const activityId = await recordAttempt(ctx, row, policyId, outcome);
  const hostIds = row.host_ids ?? [];
  await recordRuns(ctx, { policyId, hostIds, activityId, isSuccess: outcome.isDelivered });
}

/** Returns the id of the activity. */
async function recordAttempt(
  ctx: Context,
  row: OutboxRow,
  policyId: number,
  outcome: DeliveryOutcome,
): Promise<number> {
  const policy = await ctx.store.policies.get(policyId);
  const about = { policy_id: policyId, ...(policy === null ? {} : { policy_name: policy.name }) };
  const type = row.destination.startsWith("ticketing_b") ? "ticketing_b" : "ticketing_a";
  const status = outcome.status === null ? {} : { status_code: outcome.status };
  const error_response = outcome.error ?? "";
  if (row.kind === "ticket") {
    const { ticket_key, ticket_id } = outcome.result ?? {};
    const ids = { ...(ticket_key ? { ticket_key } : {}), ...(ticket_id ? { ticket_id } : {}) };
    if (outcome.isDelivered) return recordActivity(ctx, "ran_automation_ticket", { ...about, type, ...ids });
    return recordActivity(ctx, "failed_automation_ticket", { ...about, type, error_response });
  }
  if (outcome.isDelivered) return recordActivity(ctx, "ran_automation_webhook", { ...about, ...status });
  return recordActivity(ctx, "failed_automation_webhook", { ...about, ...status, error_response });
}
