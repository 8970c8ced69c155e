// What agents of Windows hosts are asked about device management (docs/protocols/managed-agent.md, Configuration).

import type { AgentNotifications } from "../../../../api/delivery/managed-agent.ts";
import { AGENT_DISCOVERY } from "../../../../api/devices/windows.ts";
import type { AgentHost } from "../../../certificates/host-authentication/agent-hosts.ts";
import type { Context } from "../../../platform/core/context.ts";
import { windowsUrl } from "../channel/devices.ts";
import { tokenFor } from "../sign-in/token.ts";

/** To turn device management on or off, or to leave that of another product. */
export async function windowsNotices(
  ctx: Pick<Context, "config" | "settings" | "store" | "clock" | "random">,
  { hostId, platform, mdm, hasIdentity }: AgentHost,
): Promise<AgentNotifications> {
  if (platform !== "windows") return {};
  const { mdm: settings } = await ctx.config.current();
  const isOurs = mdm?.connected_to_svc === true;
  if (!settings.windows_enabled_and_configured)
    return isOurs ? { needs_programmatic_windows_mdm_unenrollment: true } : {};
  if (isOurs || mdm?.is_server) return {};
  if (mdm?.enrollment_status.startsWith("On "))
    return settings.windows_migration_enabled ? { needs_mdm_migration: true } : {};
  const url = settings.enable_turn_on_windows_mdm_manually ? null : await windowsUrl(ctx, AGENT_DISCOVERY);
  if (url === null) return {};
  return {
    needs_programmatic_windows_mdm_enrollment: true,
    windows_mdm_discovery_endpoint: url,
    ...(hasIdentity ? { windows_mdm_enrollment_token: await tokenFor(ctx, { host_id: hostId }) } : {}),
  };
}
