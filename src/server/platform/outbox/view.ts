import type { z } from "zod";
import type { Delivery, DeliveryWithPayload, webhooksApi } from "../../../api/automations/webhooks.ts";
import { recordActivity } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import { isoPlus } from "../core/clock.ts";
import { type Context, within } from "../core/context.ts";
import { conflict, notFound } from "../core/errors.ts";
import { page } from "../core/http/paging.ts";
import { and, eq, everything, gt } from "../store/query.ts";
import { wakeMessage } from "./messages.ts";
import { GIVE_UP_AFTER, type OutboxRow } from "./service.ts";

type Filter = z.output<typeof webhooksApi.deliveries.query>;

export async function listDeliveries({ store }: Context, filter: Filter) {
  const where = and(
    filter.state ? eq("state", filter.state) : everything,
    filter.event ? eq("event", filter.event) : everything,
    filter.kind ? eq("kind", filter.kind) : everything,
    filter.url === undefined ? everything : eq("url", filter.url),
    filter.policy_id === undefined ? everything : eq("policy_id", filter.policy_id),
  );
  const { rows, meta } = await page(store.outbox, { ...filter, per_page: filter.per_page ?? PER_PAGE }, where, {
    defaultOrder: [{ column: "id", direction: "desc" }],
  });
  return { deliveries: rows.map(deliveryOf), meta };
}

/** Default page size; there may be hundreds of thousands of rows. */
const PER_PAGE = 100;

export async function getDelivery({ store }: Context, id: number) {
  const row = await store.outbox.get(id);
  if (!row) throw notFound("delivery", id);
  return { delivery: { ...deliveryOf(row), payload: row.payload as z.infer<typeof DeliveryWithPayload>["payload"] } };
}

/** Makes the row pending again with its id and message id, so that the receiver can detect a duplicate. */
export const replayDelivery = (ctx: Context, id: number): Promise<{ delivery: Delivery }> =>
  ctx.store.tx(async (store) => {
    const row = await store.outbox.get(id);
    if (!row) throw notFound("delivery", id);
    const now = ctx.clock.iso();
    if (row.state === "pending") {
      // Clear the retry delay of the destination, which may be set on another row.
      const waiting = and(eq("destination", row.destination), eq("state", "pending"), gt("next_attempt_at", now));
      await store.outbox.update({ where: waiting, set: { next_attempt_at: now } });
    } else
      await store.outbox.update({
        where: eq("id", id),
        set: {
          state: "pending",
          // Keep `result`: a ticket that exists, or may exist, is looked up instead of created again.
          attempts: 0,
          next_attempt_at: now,
          give_up_at: isoPlus(now, GIVE_UP_AFTER),
          delivered_at: null,
          refused_since: null,
          last_status: null,
          last_error: null,
        },
      });
    await recordActivity(within(ctx, store), "replayed_webhook_delivery", {
      delivery_id: id,
      event: row.event,
      webhook_url: row.url,
    });
    await store.notify(channels.outbox, wakeMessage({ destination: row.destination, id, isUrgent: true }));
    return { delivery: deliveryOf((await store.outbox.get(id))!) };
  });

/** Gives up a row that would otherwise delay all rows behind it. */
export const giveUpDelivery = (ctx: Context, id: number): Promise<{ delivery: Delivery }> =>
  ctx.store.tx(async (store) => {
    const row = await store.outbox.get(id);
    if (!row) throw notFound("delivery", id);
    const set = { state: "dead" as const, last_error: row.last_error ?? "given up manually" };
    const isGivenUp = (await store.outbox.update({ where: and(eq("id", id), eq("state", "pending")), set })) > 0;
    if (!isGivenUp) throw conflict(`delivery ${id} is not pending: it is ${row.state}`);
    await recordActivity(within(ctx, store), "gave_up_webhook_delivery", {
      delivery_id: id,
      event: row.event,
      webhook_url: row.url,
    });
    await store.notify(channels.outbox, wakeMessage({ destination: row.destination, id, isUrgent: true }));
    return { delivery: deliveryOf((await store.outbox.get(id))!) };
  });

export function deliveryOf(row: OutboxRow): Delivery {
  const { payload: _, destination: __, revision: ___, refused_since: ____, host_ids: _____, ...shown } = row;
  return {
    ...shown,
    event: row.event as Delivery["event"],
    next_attempt_at: row.state === "pending" ? row.next_attempt_at : null,
  };
}
