import { webhooksApi } from "../../../api/automations/webhooks.ts";
import { route } from "../../platform/core/http/route.ts";
import { getDelivery, giveUpDelivery, listDeliveries, replayDelivery } from "../../platform/outbox/view.ts";
import { listDestinations, modifyDestination } from "./destinations.ts";
import { testWebhook } from "./test.ts";

export const webhookRoutes = [
  route(webhooksApi.deliveries, ({ query }, ctx) => listDeliveries(ctx, query)),
  route(webhooksApi.delivery, ({ params }, ctx) => getDelivery(ctx, params.id)),
  route(webhooksApi.replay, ({ params }, ctx) => replayDelivery(ctx, params.id)),
  route(webhooksApi.giveUp, ({ params }, ctx) => giveUpDelivery(ctx, params.id)),
  route(webhooksApi.test, ({ body }, ctx) => testWebhook(ctx, body)),
  route(webhooksApi.destinations, ({ query }, ctx) => listDestinations(ctx, query)),
  route(webhooksApi.modifyDestination, ({ body }, ctx) => modifyDestination(ctx, body)),
];
