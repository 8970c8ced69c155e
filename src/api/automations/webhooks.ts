import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, paging, QueryId, Timestamp } from "../fields.ts";
import { webhookEvents } from "./webhook-events.ts";

/** Events of deliveries. The webhooks of `calendar_event` and `mdm_migration` have their own settings. */
const deliveryEvents = [...webhookEvents, "calendar_event", "mdm_migration", "test"] as const;
const deliveryKinds = ["webhook", "ticket", "mail"] as const;
const deliveryStates = ["pending", "delivered", "dead"] as const;

const url = z.string().min(1).max(2048);

export const Delivery = z.object({
  id: Id,
  created_at: Timestamp,
  kind: z.enum(deliveryKinds),
  event: z.enum(deliveryEvents),
  state: z.enum(deliveryStates).meta({ description: "dead: given up" }),
  url: z.string(),
  message_id: z.string().meta({ description: "sent as webhook-id, the same for every attempt" }),
  attempts: z.int(),
  next_attempt_at: Timestamp.nullable().meta({ description: "while pending; earlier deliveries go first" }),
  last_attempt_at: Timestamp.nullable(),
  last_status: z.int().nullable().meta({ description: "HTTP status of the last attempt; null without a reply" }),
  last_error: z.string().nullable(),
  delivered_at: Timestamp.nullable(),
  give_up_at: Timestamp.meta({ description: "after this time, a failed attempt is not retried" }),
  policy_id: Id.nullable(),
  team_id: Id.nullable(),
  result: z.record(z.string(), z.string()).nullable().meta({
    description: "for tickets: ticket_id and ticket_key; asked_at while it is unknown whether a request created one",
  }),
});
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryWithPayload = Delivery.extend({ payload: z.record(z.string(), z.json()) });

export const Destination = z.object({
  url: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  signing_secret: z.string().meta({ description: "masked, except in the reply that created it" }),
  headers: z.record(z.string(), z.string()).meta({ description: "sent with each request; values are masked" }),
  pending: z.int().meta({ description: "number of pending deliveries" }),
});
export type Destination = z.infer<typeof Destination>;

/** A header's name (RFC 9110, 5.6.2). */
const HeaderName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { error: "is not the name of a header" });
const HeaderValue = z
  .string()
  .max(4096)
  .regex(/^[\t\x20-\x7e]*$/, { error: "must be printable ASCII" });
const Headers = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => Object.keys(headers).length <= 20, { error: "must have at most 20 headers" });

const access = { action: "webhooks:write", scope: "global" } as const;
const params = z.object({ id: IdParam });

export const webhooksApi = {
  deliveries: endpoint({
    method: "GET",
    path: "/webhooks/deliveries",
    summary: "List deliveries of webhooks, tickets and mails (sent, pending or given up), newest first.",
    access,
    query: paging("id", "created_at").extend({
      state: z.enum(deliveryStates).optional(),
      event: z.enum(deliveryEvents).optional(),
      kind: z.enum(deliveryKinds).optional(),
      url: z.string().max(2048).optional().meta({ description: "of the destination" }),
      policy_id: QueryId.optional(),
    }),
    response: z.object({ deliveries: z.array(Delivery), meta: Meta }),
  }),
  delivery: endpoint({
    method: "GET",
    path: "/webhooks/deliveries/:id",
    summary: "Get a delivery with its payload.",
    access,
    params,
    response: z.object({ delivery: DeliveryWithPayload }),
  }),
  replay: endpoint({
    method: "POST",
    path: "/webhooks/deliveries/:id/replay",
    summary: "Send a delivery again with the same message id; if it is waiting for a retry, it is sent immediately.",
    access,
    params,
    response: z.object({ delivery: Delivery }),
  }),
  giveUp: endpoint({
    method: "POST",
    path: "/webhooks/deliveries/:id/give_up",
    summary: "Give up a pending delivery, so that the next ones to its destination are sent.",
    access,
    params,
    response: z.object({ delivery: Delivery }),
  }),
  test: endpoint({
    method: "POST",
    path: "/webhooks/test",
    dryRun: "it sends something to another server",
    summary: "Send a sample of an event once, and return the result.",
    access,
    body: z.object({
      event: z.enum(webhookEvents),
      url: url.optional().meta({ description: "default: the configured one of the event" }),
      team_id: z
        .int()
        .min(0)
        .optional()
        .meta({ description: "use the webhook of this team; 0: that of hosts without a team (premium)" }),
    }),
    response: z.object({ delivery: Delivery }),
  }),
  destinations: endpoint({
    method: "GET",
    path: "/webhooks/destinations",
    summary: "List the URLs that webhooks are sent to, with their headers.",
    access,
    query: paging("id", "url"),
    response: z.object({ destinations: z.array(Destination), meta: Meta }),
  }),
  modifyDestination: endpoint({
    method: "PATCH",
    path: "/webhooks/destinations",
    summary: "Change the headers or the signing secret of requests to a URL.",
    access,
    body: z.object({
      url,
      headers: Headers.optional().meta({
        description:
          "replaces all headers; a masked value stays unchanged. Headers of HTTP itself and webhook-* are refused",
      }),
      rotate_secret: z.boolean().optional().meta({ description: "create a new secret, returned only in this reply" }),
    }),
    response: z.object({ destination: Destination }),
  }),
};
