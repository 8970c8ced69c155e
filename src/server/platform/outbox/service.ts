// Adds requests to the outbox. A request to another server is stored in the same transaction as the change that it
// reports, so that neither is committed without the other. sender.ts delivers it.
import { channels } from "../core/channels.ts";
import { hours, isoPlus, minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { wakeMessage } from "./messages.ts";
import type { DeliveryOutcome } from "./outcome.ts";
import type { outbox } from "./tables.ts";

export type OutboxRow = RowOf<typeof outbox>;
export type OutboxEvent =
  | "activities"
  | "host_activities"
  | "host_status"
  | "failing_policies"
  | "vulnerabilities"
  | "calendar_event"
  | "mdm_migration"
  | "test";

export interface Outgoing {
  readonly kind: OutboxRow["kind"];
  readonly event: OutboxEvent;
  /** Rows with the same destination are sent in order. For webhooks the URL. */
  readonly destination: string;
  readonly url: string;
  readonly payload: Record<string, unknown>;
  readonly policy_id?: number | null;
  readonly team_id?: number | null;
  readonly host_ids?: readonly number[] | null;
}

/** How long delivery of a row is retried. */
export const GIVE_UP_AFTER = hours(24);
/** How long it is retried if a webhook receiver rejects the row, since later rows are delayed meanwhile. */
export const GIVE_UP_REFUSED_AFTER = minutes(15);

type Deps = Pick<Services, "clock" | "random">;

export async function enqueue(tx: ServerTx, services: Deps, outgoing: Outgoing): Promise<OutboxRow> {
  const row = await tx.outbox.insert(newRow(services, outgoing));
  await tx.notify(channels.outbox, wakeMessage(row));
  return row;
}

/** Rows per write; payloads may be large. */
const BATCH_SIZE = 500;

/** Keeps the given order. */
export async function enqueueMany(tx: ServerTx, services: Deps, all: readonly Outgoing[]): Promise<void> {
  if (all.length === 0) return;
  const first = new Map<string, OutboxRow>();
  for (let at = 0; at < all.length; at += BATCH_SIZE) {
    const rows = await tx.outbox.insertMany(all.slice(at, at + BATCH_SIZE).map((message) => newRow(services, message)));
    for (const row of rows) if (!first.has(row.destination)) first.set(row.destination, row);
  }
  for (const row of first.values()) await tx.notify(channels.outbox, wakeMessage(row));
}

/** Adds a row whose only attempt has been made, outside the destination's queue. */
export async function addAttempted(
  { store, clock }: Deps & { readonly store: ServerTx },
  row: ReturnType<typeof newRow>,
  outcome: DeliveryOutcome,
): Promise<OutboxRow> {
  const now = clock.iso();
  return store.outbox.insert({
    ...row,
    state: outcome.isDelivered ? "delivered" : "dead",
    attempts: 1,
    last_attempt_at: now,
    last_status: outcome.status,
    last_error: outcome.error,
    delivered_at: outcome.isDelivered ? now : null,
  });
}

/**
 * Counts an attempt before its request is sent, with data for the next one: if the server is killed during the
 * request, the next attempt knows that its outcome is unknown.
 */
export async function beginAttempt(store: ServerTx, row: OutboxRow, result: OutboxRow["result"]): Promise<void> {
  await store.outbox.update({ where: eq("id", row.id), set: { attempts: row.attempts + 1, result } });
}

export function newRow({ clock, random }: Deps, outgoing: Outgoing) {
  const now = clock.iso();
  return {
    ...outgoing,
    created_at: now,
    next_attempt_at: now,
    give_up_at: isoPlus(now, GIVE_UP_AFTER),
    message_id: `msg_${random.token(18)}`,
  };
}
