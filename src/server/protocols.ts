// The protocols of agents and devices that the router serves. A test compares them with the table of the API.

import { managedAgentApi } from "../api/delivery/managed-agent.ts";
import type { AnyEndpoint } from "../api/endpoint.ts";
import { servedPaths } from "../api/paths.ts";
import { conditionalAccessIdpRoutes } from "./automations/conditional-access/routes.ts";
import { certificateAgentRoutes } from "./certificates/certificates/routes.ts";
import { deviceCaRoutes } from "./certificates/device-ca/scep-server.ts";
import {
  capabilities,
  managedAgentRoutes,
  thirdPartyCapabilities,
  thirdPartyPath,
  thirdPartyRoutes,
} from "./delivery/managed-agent/routes.ts";
import { agentFileRoutes } from "./delivery/new-hosts/routes.ts";
import { inHouseAppRoutes } from "./delivery/store-apps/routes.ts";
import { androidSignUpRoutes } from "./devices/android/enterprise/routes.ts";
import { androidMessageRoutes } from "./devices/android/sync/routes.ts";
import { appleChannelRoutes } from "./devices/apple/channel/routes.ts";
import {
  accountEnrollRoutes,
  automaticEnrollRoutes,
  mdmSsoRoutes,
  otaEnrollRoutes,
} from "./devices/apple/enroll/routes.ts";
import { scepProxyRoutes } from "./devices/scep-proxy/proxy.ts";
import { windowsChannelRoutes } from "./devices/windows/channel/routes.ts";
import { windowsEnrollRoutes } from "./devices/windows/enroll/routes.ts";
import { desktopAppRoutes } from "./edge/device-page/routes.ts";
import type { Protocol } from "./platform/core/http/protocol.ts";
import type { Settings } from "./platform/core/settings/settings.ts";

type ProtocolSettings = Pick<Settings, "managed_agent_prefix" | "managed_agent_capabilities">;

export const protocolsOf = (settings: ProtocolSettings): readonly Protocol[] => [
  ...managedAgents(settings),
  { routes: agentFileRoutes },
  { routes: desktopAppRoutes },
  { routes: certificateAgentRoutes },
  { routes: scepProxyRoutes },
  { routes: deviceCaRoutes },
  { routes: conditionalAccessIdpRoutes },
  { routes: appleChannelRoutes },
  { routes: automaticEnrollRoutes },
  { routes: otaEnrollRoutes },
  { routes: mdmSsoRoutes },
  { routes: accountEnrollRoutes },
  { routes: inHouseAppRoutes },
  { routes: windowsEnrollRoutes },
  { routes: windowsChannelRoutes },
  { routes: [...androidSignUpRoutes, ...androidMessageRoutes] },
];

/** The prefix that agents of this protocol family know without a setting. */
const KNOWN_PREFIX = "/api/svc/orbit";

/** Managed agents are also served below the prefix for third-party agents, if one is set. */
function managedAgents({
  managed_agent_prefix: prefix,
  managed_agent_capabilities: words,
}: ProtocolSettings): Protocol[] {
  const below = (start: string, headers: Record<string, string>): Protocol => ({
    routes: thirdPartyRoutes,
    pathsOf: (endpoint) => [thirdPartyPath(start, endpoint)],
    headers,
  });
  const isThirdParty = prefix !== undefined && prefix !== KNOWN_PREFIX;
  return [
    { routes: managedAgentRoutes, pathsOf: agentPaths, headers: capabilities },
    below(KNOWN_PREFIX, prefix === KNOWN_PREFIX ? thirdPartyCapabilities(words) : capabilities),
    ...(isThirdParty ? [below(prefix, thirdPartyCapabilities(words))] : []),
  ];
}

const agentPaths = (endpoint: AnyEndpoint): readonly string[] => [
  ...servedPaths(endpoint),
  `/api/svc${endpoint.path}`,
  // The desktop app has its own address.
  ...(endpoint === managedAgentApi.ping ? ["/api/svc/device/ping"] : []),
];
