// The protocols of agents and devices that the router serves. A test compares them with the table of the API.
import type { AnyEndpoint } from "../api/endpoint.ts";
import { servedPaths } from "../api/endpoint.ts";
import { managedAgentApi } from "../api/managed-agent.ts";
import { certificateAgentRoutes } from "./certificates/routes.ts";
import { scepProxyRoutes } from "./certificates/scep-proxy.ts";
import { conditionalAccessIdpRoutes } from "./conditional-access/routes.ts";
import type { Protocol } from "./core/http/protocol.ts";
import type { Settings } from "./core/settings/settings.ts";
import { deviceCaRoutes } from "./device-ca/scep-server.ts";
import { desktopAppRoutes } from "./device-page/routes.ts";
import {
  capabilities,
  managedAgentRoutes,
  thirdPartyCapabilities,
  thirdPartyPath,
  thirdPartyRoutes,
} from "./managed-agent/routes.ts";
import { androidMessageRoutes } from "./mdm/android/devices/routes.ts";
import { androidSignUpRoutes } from "./mdm/android/enterprise/routes.ts";
import { appleChannelRoutes } from "./mdm/apple/channel/routes.ts";
import {
  accountEnrollRoutes,
  automaticEnrollRoutes,
  mdmSsoRoutes,
  otaEnrollRoutes,
} from "./mdm/apple/enroll/routes.ts";
import { windowsChannelRoutes } from "./mdm/windows/channel/routes.ts";
import { windowsEnrollRoutes } from "./mdm/windows/enroll/routes.ts";
import { agentFileRoutes } from "./new-hosts/routes.ts";
import { inHouseAppRoutes } from "./store-apps/routes.ts";

type Known = Pick<Settings, "managed_agent_prefix" | "managed_agent_capabilities">;

export const protocolsOf = (settings: Known): readonly Protocol[] => [
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
function managedAgents({ managed_agent_prefix: prefix, managed_agent_capabilities: words }: Known): Protocol[] {
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
