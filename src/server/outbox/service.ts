// The way in to the outbox: what has to reach another server is written in the transaction of what it tells of, so neither comes without
// the other. sender.ts sends it.
import { channels } from "../core/channels.ts";
import { hours, isoPlus } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { RowOf } from "../store/table.ts";
import type { ServerTx } from "../tables.ts";
import { wakeMessage } from "./messages.ts";
import type { outbox } from "./tables.ts";

export type OutboxRow = RowOf<typeof outbox>;
export type OutboxEvent = "activities" | "host_status" | "failing_policies" | "vulnerabilities" | "test";

export interface Outgoing {
  readonly kind: OutboxRow["kind"];
  readonly event: OutboxEvent;
  /** What goes to the same destination goes in order; for webhooks the URL. */
  readonly destination: string;
  readonly url: string;
  readonly payload: Record<string, unknown>;
  readonly policy_id?: number | null;
  readonly team_id?: number | null;
}

/** How long a row is tried for. */
export const GIVE_UP_AFTER = hours(24);

type Given = Pick<Services, "clock" | "random">;

export async function enqueue(tx: ServerTx, services: Given, outgoing: Outgoing): Promise<OutboxRow> {
  const row = await tx.outbox.insert(newRow(services, outgoing));
  await tx.notify(channels.outbox, wakeMessage(row));
  return row;
}

/** Rows in one write: payloads may be large. */
const AT_ONCE = 500;

/** In the order given. */
export async function enqueueMany(tx: ServerTx, services: Given, all: readonly Outgoing[]): Promise<void> {
  if (all.length === 0) return;
  const first = new Map<string, OutboxRow>();
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const rows = await tx.outbox.insertMany(all.slice(at, at + AT_ONCE).map((one) => newRow(services, one)));
    for (const row of rows) if (!first.has(row.destination)) first.set(row.destination, row);
  }
  for (const row of first.values()) await tx.notify(channels.outbox, wakeMessage(row));
}

export function newRow({ clock, random }: Given, outgoing: Outgoing) {
  const now = clock.iso();
  return {
    ...outgoing,
    created_at: now,
    next_attempt_at: now,
    give_up_at: isoPlus(now, GIVE_UP_AFTER),
    message_id: `msg_${random.token(18)}`,
  };
}
