import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { Id, IdParam, Meta, paging, QueryId, Timestamp } from "./fields.ts";

/** What webhooks tell of. */
export const webhookEvents = ["activities", "host_status", "failing_policies", "vulnerabilities"] as const;
export const deliveryStates = ["pending", "delivered", "dead"] as const;

const url = z.string().min(1).max(2048);

export const Delivery = z.object({
  id: Id,
  created_at: Timestamp,
  kind: z.enum(["webhook", "ticket"]),
  event: z.enum([...webhookEvents, "test"]),
  state: z.enum(deliveryStates).meta({ description: "dead: given up" }),
  url: z.string(),
  message_id: z.string().meta({ description: "sent as webhook-id, the same at every try" }),
  attempts: z.int(),
  next_attempt_at: Timestamp.nullable().meta({ description: "while pending; those before it go first" }),
  last_attempt_at: Timestamp.nullable(),
  last_status: z.int().nullable().meta({ description: "HTTP status of the last try; null without an answer" }),
  last_error: z.string().nullable(),
  delivered_at: Timestamp.nullable(),
  give_up_at: Timestamp.meta({ description: "after this a try that fails is the last one" }),
  policy_id: Id.nullable(),
  team_id: Id.nullable(),
  result: z.record(z.string(), z.string()).nullable().meta({
    description: "of tickets: ticket_id and ticket_key; asked_at while it is not known whether a request made one",
  }),
});
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryWithPayload = Delivery.extend({ payload: z.record(z.string(), z.json()) });

export const Destination = z.object({
  url: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  signing_secret: z.string().meta({ description: "masked, but in the reply that made it" }),
  headers: z.record(z.string(), z.string()).meta({ description: "sent with each request; values masked" }),
  pending: z.int().meta({ description: "deliveries that wait" }),
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
  .refine((headers) => Object.keys(headers).length <= 20, { error: "must be 20 headers at most" });

const access = { action: "webhooks:write", scope: "global" } as const;
const params = z.object({ id: IdParam });

export const webhooksApi = {
  deliveries: endpoint({
    method: "GET",
    path: "/webhooks/deliveries",
    summary: "List webhooks and tickets that were sent, wait, or were given up; the newest first.",
    access,
    query: paging("id", "created_at").extend({
      state: z.enum(deliveryStates).optional(),
      event: z.enum([...webhookEvents, "test"]).optional(),
      kind: z.enum(["webhook", "ticket"]).optional(),
      url: z.string().max(2048).optional().meta({ description: "of the destination" }),
      policy_id: QueryId.optional(),
    }),
    response: z.object({ deliveries: z.array(Delivery), meta: Meta }),
  }),
  delivery: endpoint({
    method: "GET",
    path: "/webhooks/deliveries/:id",
    summary: "Get a delivery with what it tells.",
    access,
    params,
    response: z.object({ delivery: DeliveryWithPayload }),
  }),
  replay: endpoint({
    method: "POST",
    path: "/webhooks/deliveries/:id/replay",
    summary: "Send a delivery again under its message id; one that waits for a retry does not wait any longer.",
    access,
    params,
    response: z.object({ delivery: Delivery }),
  }),
  giveUp: endpoint({
    method: "POST",
    path: "/webhooks/deliveries/:id/give_up",
    summary: "Give up a delivery that waits: those behind it go on.",
    access,
    params,
    response: z.object({ delivery: Delivery }),
  }),
  test: endpoint({
    method: "POST",
    path: "/webhooks/test",
    summary: "Send a sample of an event once, and tell what came of it.",
    access,
    body: z.object({
      event: z.enum(webhookEvents),
      url: url.optional().meta({ description: "default: the configured one of the event" }),
    }),
    response: z.object({ delivery: Delivery }),
  }),
  destinations: endpoint({
    method: "GET",
    path: "/webhooks/destinations",
    summary: "List the URLs that webhooks were sent to, and how requests to them are made.",
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
        description: "replaces all; a masked value stays as it is. Headers of HTTP, and webhook-*, are not taken",
      }),
      rotate_secret: z.boolean().optional().meta({ description: "a new secret, shown in this reply only" }),
    }),
    response: z.object({ destination: Destination }),
  }),
};
