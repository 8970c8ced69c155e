// Routes of managed agents (docs/protocols/managed-agent.md). All but two require the agent's key.

import { hostIdentityApi } from "../../../api/delivery/host-identity.ts";
import { managedAgentApi } from "../../../api/delivery/managed-agent.ts";
import type { AnyEndpoint, ParsedOf } from "../../../api/endpoint.ts";
import type { AgentOptions } from "../../../api/settings/app-config.ts";
import { answerScep } from "../../certificates/device-ca/scep-server.ts";
import type { AgentHost } from "../../certificates/host-authentication/agent-hosts.ts";
import { managedAgents } from "../../certificates/host-authentication/agents.ts";
import { issuing } from "../../certificates/host-authentication/identity.ts";
import { keepBitlockerKey, keepLuksPassphrase } from "../../hosts/disk-encryption/keys.ts";
import { hasRightSecret } from "../../hosts/enrollment/secret-check.ts";
import type { Machine } from "../../hosts/managed-agents/machines.ts";
import { answerOperation, sendOperation } from "../../hosts/operations/queue.ts";
import type { ScriptResult } from "../../hosts/operations/tables.ts";
import { setAgentMapping } from "../../inventory/host-details/device-mapping.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, invalid, notFound } from "../../platform/core/errors.ts";
import { type Handler, type Route, route } from "../../platform/core/http/route.ts";
import { proved } from "../../platform/core/http/strangers.ts";
import { JsonWithBytes } from "../../platform/core/http/text-stream.ts";
import { limit } from "../../platform/core/limits.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { updateFor, updateKeyFor } from "../new-hosts/updates.ts";
import { savedScriptOf } from "../scripts/executions.ts";
import { setupForAgent, startForAgent } from "../setup-experience/view.ts";
import { installDetails, installPackage, installResult } from "../software-installs/agent.ts";
import { checkMachine } from "./copies.ts";
import { storeDeviceToken } from "./device-token.ts";
import { enrollAgent } from "./enroll.ts";
import { notificationsFor } from "./notifications.ts";

/** Optional features of this server, which agents check before using them. */
const CAPABILITIES =
  "scripts,software_install,device_token,disk_encryption_key,luks_data,device_mapping,setup_experience";
export const scriptOutput = limit({
  what: "output of a script that is looked at",
  max: 100_000,
  unit: "characters",
  beyond: "The end is kept, of which a part is stored.",
});
/** Sent with every reply to a managed agent, including errors. */
export const capabilities: Record<string, string> = { "x-svc-capabilities": CAPABILITIES };

/**
 * `capabilities` for a third-party agent below its own path prefix, with the header name and values that it expects.
 */
export function thirdPartyCapabilities(header: string | undefined): Record<string, string> {
  if (header === undefined) return capabilities;
  const colon = header.indexOf(":");
  return { [header.slice(0, colon).toLowerCase()]: header.slice(colon + 1).trim() };
}

/** Default time limit of a script in seconds. */
const SCRIPT_TIMEOUT = 300;

const familyOfExtension: Record<string, string> = { windows: "windows", linux: "linux", macos: "darwin" };

function extensionsFor({ extensions = {} }: AgentOptions, { platform, platformLike }: AgentHost) {
  const family = platformFamily(platform, platformLike);
  const fits = (extension: unknown) =>
    typeof extension === "object" &&
    extension !== null &&
    "platform" in extension &&
    familyOfExtension[String(extension.platform)] === family;
  return Object.fromEntries(Object.entries(extensions).filter(([, extension]) => fits(extension)));
}

interface AgentKeys {
  readonly agent_node_key?: string | undefined;
  readonly orbit_node_key?: string | undefined;
  readonly orbot_node_key?: string | undefined;
  readonly agent_machine?: Machine | undefined;
}

/** `hasReturned`: a copy of the agent had taken its place since its last call. */
type CallingAgent = AgentHost & { readonly hasReturned: boolean };

async function agentOf(ctx: Context, body: AgentKeys): Promise<CallingAgent> {
  const key = body.agent_node_key || body.orbit_node_key || body.orbot_node_key || "";
  const agent = await ctx.running.of(managedAgents).find(key, ctx);
  return { ...agent, hasReturned: await checkMachine(ctx, agent, key, body.agent_machine) };
}

/** A node key in a body. A text inside another text of JSON cannot match: its quotes would be escaped. */
const NAMED_KEY = /"(?:agent|orbit|orbot)_node_key"\s*:\s*"([^"\\]{1,256})"/;

/** Whether the body, or its beginning, has the key of a host. 401 for a key that no host has. */
async function isNamedBy(ctx: Context, bytes: Buffer): Promise<boolean> {
  const key = NAMED_KEY.exec(bytes.toString("latin1"))?.[1];
  if (key === undefined) return false;
  await ctx.running.of(managedAgents).find(key, ctx);
  return true;
}

/** A route that requires the agent's key. */
function keyed<E extends AnyEndpoint>(
  endpoint: E,
  handle: (input: ParsedOf<E>, agent: CallingAgent, ctx: Context) => ReturnType<Handler<E>>,
): Route {
  const run = async (input: ParsedOf<E>, ctx: Context) => {
    const agent = await agentOf(ctx, input.body as AgentKeys);
    proved(ctx);
    return handle(input, agent, ctx);
  };
  return route(endpoint, run, { isNamedBy });
}

export const managedAgentRoutes: readonly Route[] = [
  route(managedAgentApi.ping, async () => ({})),
  route(hostIdentityApi.get, ({ query: { operation, message = "" } }, ctx) =>
    answerScep(ctx, { operation, message }, issuing(ctx)),
  ),
  route(hostIdentityApi.post, ({ query, body }, ctx) =>
    answerScep(ctx, { ...query, message: body.bytes }, issuing(ctx)),
  ),
  route(
    managedAgentApi.enroll,
    async ({ body }, ctx) => ({
      agent_node_key: await enrollAgent(ctx, body),
      agent_update_key: await updateKeyFor(ctx),
    }),
    { isNamedBy: hasRightSecret },
  ),
  keyed(managedAgentApi.config, async (_, agent, ctx) => {
    const options = await ctx.running.of(managedAgents).optionsOf(agent.teamId);
    return {
      script_execution_timeout: options.script_execution_timeout ?? SCRIPT_TIMEOUT,
      command_line_startup_flags: options.command_line_flags ?? {},
      extensions: extensionsFor(options, agent),
      ...(options.update_channels ? { update_channels: options.update_channels } : {}),
      agent_update: await updateFor(ctx),
      ...(agent.hasReturned ? { renew_device_token: true } : {}),
      notifications: await notificationsFor(ctx, agent),
    };
  }),
  keyed(managedAgentApi.deviceToken, async ({ body }, { hostId }, ctx) => {
    await storeDeviceToken(ctx, hostId, body.device_auth_token);
    return {};
  }),
  keyed(managedAgentApi.scriptRequest, async ({ body }, { hostId }, ctx) => {
    const { operation, content, json, fileId } = await sendOperation(ctx, hostId, body.execution_id);
    if (fileId !== null) throw notFound("script execution", body.execution_id);
    const rest = {
      host_id: hostId,
      execution_id: operation.uuid,
      script_id: await savedScriptOf(ctx.store, operation),
      timeout: operation.timeout,
      created_at: operation.created_at,
    };
    return json === null ? { ...rest, script_contents: content } : new JsonWithBytes(rest, "script_contents", json());
  }),
  keyed(managedAgentApi.scriptResult, async ({ body }, { hostId }, ctx) => {
    const { exit_code, execution_id, output, runtime } = body;
    if (exit_code === undefined) throw invalid("exit_code", "exit_code is required");
    const result: ScriptResult = { output: output.slice(-scriptOutput.max), runtime: Math.round(runtime), exit_code };
    await answerOperation(ctx, hostId, execution_id, result);
    return {};
  }),
  keyed(managedAgentApi.installDetails, ({ body }, { hostId }, ctx) => installDetails(ctx, hostId, body.install_uuid)),
  keyed(managedAgentApi.installPackage, async ({ query, body }, { hostId }, ctx) => {
    if (query.alt !== "media") throw badRequest("only alt=media is supported", "alt");
    return installPackage(ctx, hostId, body.installer_id ?? 0);
  }),
  keyed(managedAgentApi.installResult, async ({ body }, { hostId }, ctx) => {
    await installResult(ctx, hostId, body);
    return {};
  }),
  keyed(managedAgentApi.diskEncryptionKey, async ({ body }, agent, ctx) => {
    await keepBitlockerKey(ctx, agent, body);
    return {};
  }),
  keyed(managedAgentApi.luksData, async ({ body }, agent, ctx) => {
    await keepLuksPassphrase(ctx, agent, body);
    return {};
  }),
  keyed(managedAgentApi.deviceMapping, async ({ body }, { hostId }, ctx) => {
    await setAgentMapping(ctx, hostId, body.email);
    return {};
  }),
  keyed(managedAgentApi.setupInit, async (_, { hostId }, ctx) => ({
    result: { enabled: await startForAgent(ctx, hostId) },
  })),
  keyed(managedAgentApi.setupStatus, async ({ body }, { hostId }, ctx) => ({
    setup_experience_results: await setupForAgent(ctx, hostId, body.force_release ?? false),
  })),
];

/** The routes below prefixes of third-party agents, which read their key from a field of their own. */
export const thirdPartyRoutes: readonly Route[] = [
  ...managedAgentRoutes.filter(({ endpoint }) => endpoint !== managedAgentApi.enroll),
  route(
    managedAgentApi.enroll,
    async ({ body }, ctx) => {
      const key = await enrollAgent(ctx, body);
      return { agent_node_key: key, orbit_node_key: key };
    },
    { isNamedBy: hasRightSecret },
  ),
];

/** The path of an endpoint below a third-party agent's prefix: replaces `/agent` with the prefix. */
export const thirdPartyPath = (prefix: string, { path }: AnyEndpoint): string =>
  `${prefix.replace(/\/+$/, "")}${path.slice("/agent".length)}`;
