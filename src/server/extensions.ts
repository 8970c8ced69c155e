// Who does what features ask of those that they do not know.
import type { Extensions } from "./core/extensions.ts";
import { actNow } from "./host-actions/actions.ts";
import { hostActionKinds, scriptKind } from "./host-actions/kinds.ts";
import { chosenIds } from "./host-list/chosen.ts";
import { deleteInSteps } from "./host-list/delete.ts";
import { compileWhere } from "./host-list/selector/where.ts";
import { policiesLeave } from "./policies/service.ts";
import { routes } from "./routes.ts";
import { dropIntegrations } from "./teams/integrations.ts";
import { deliverTicket } from "./tickets/deliver.ts";
import { activityRequests } from "./webhooks/activities.ts";
import { deliverWebhook } from "./webhooks/deliver.ts";

export const extensions: Extensions = {
  activityRequests,
  approvedActs: { hosts: chosenIds, wipe: (ctx, host) => actNow(ctx, host, "wipe"), remove: deleteInSteps },
  deliveries: { webhook: deliverWebhook, ticket: deliverTicket },
  hostsWhere: compileWhere,
  integrationsChanged: dropIntegrations,
  operationKinds: { ...hostActionKinds, script: scriptKind },
  routes,
  teamLeaves: policiesLeave,
};
