// Who does what features ask of those that they do not know.
import type { Extensions } from "./core/extensions.ts";
import { compileWhere } from "./host-list/selector/where.ts";
import { policiesLeave } from "./policies/service.ts";
import { routes } from "./routes.ts";
import { dropIntegrations } from "./teams/integrations.ts";
import { deliverTicket } from "./tickets/deliver.ts";
import { activityRequests } from "./webhooks/activities.ts";
import { deliverWebhook } from "./webhooks/deliver.ts";

export const extensions: Extensions = {
  activityRequests,
  deliveries: { webhook: deliverWebhook, ticket: deliverTicket },
  hostsWhere: compileWhere,
  integrationsChanged: dropIntegrations,
  routes,
  teamLeaves: policiesLeave,
};
