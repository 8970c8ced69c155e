// Who does what features ask of those that they do not know.
import { endChallenges } from "./certificates/scep-proxy.ts";
import type { Extensions } from "./core/extensions.ts";
import { endDeviceTokens } from "./device-page/tokens.ts";
import { forgetDiskKeys } from "./disk-encryption/keys.ts";
import { actNow } from "./host-actions/actions.ts";
import { hostActionKinds, scriptKind } from "./host-actions/kinds.ts";
import { chosenIds } from "./host-list/chosen.ts";
import { deleteInSteps } from "./host-list/delete.ts";
import { compileWhere } from "./host-list/selector/where.ts";
import { endAgentKeys } from "./managed-agent/rows.ts";
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
  dropEntrusted: [endDeviceTokens, endChallenges, forgetDiskKeys],
  endAgentKeys,
  hostsWhere: compileWhere,
  integrationsChanged: dropIntegrations,
  operationKinds: { ...hostActionKinds, script: scriptKind },
  routes,
  teamLeaves: policiesLeave,
};
