// What agents are asked to do besides scripts. Read for each configuration that an agent fetches, so what is read has to be
// cached.
import type { AgentNotifications } from "../../../api/delivery/managed-agent.ts";
import type { AgentHost } from "../../certificates/host-authentication/agent-hosts.ts";
import { diskEncryptionNotices } from "../../devices/encryption-settings/notices.ts";
import { windowsNotices } from "../../devices/windows/notices/notices.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { isSetupOpen } from "../setup-experience/progress.ts";

export async function notificationsFor(
  ctx: Pick<Context, "config" | "settings" | "license" | "store" | "clock" | "random">,
  agent: AgentHost,
): Promise<AgentNotifications> {
  const others = await Promise.all([windowsNotices(ctx, agent), diskEncryptionNotices(ctx, agent)]);
  const setup: AgentNotifications = isPremium(ctx) && isSetupOpen(agent.setup) ? { run_setup_experience: true } : {};
  return Object.assign({}, ...(agent.next === null ? [] : [pendingOf(agent.next)]), setup, ...others);
}

const pendingOf = ({ form, uuid }: NonNullable<AgentHost["next"]>): AgentNotifications =>
  form === "script" ? { pending_script_execution_ids: [uuid] } : { pending_software_installer_ids: [uuid] };
