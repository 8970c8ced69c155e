// What agents are asked to do besides scripts. `server/extensions.ts` names who asks.
import type { z } from "zod";
import type { managedAgentApi } from "../../../api/delivery/managed-agent.ts";
import type { Context } from "../../platform/core/context.ts";
import type { AgentHost } from "./agents.ts";

export type Notifications = z.output<typeof managedAgentApi.config.response>["notifications"];

/** Runs for each configuration that an agent fetches, so what it reads has to be cached. */
export type AgentNotifier = (
  ctx: Pick<Context, "config" | "settings" | "store" | "clock" | "random">,
  agent: AgentHost,
) => Promise<Notifications>;

declare module "../../platform/core/extensions.ts" {
  interface Extensions {
    readonly agentNotifiers: readonly AgentNotifier[];
  }
}

export async function notificationsFor(
  ctx: Pick<Context, "config" | "settings" | "store" | "clock" | "random" | "extensions">,
  agent: AgentHost,
): Promise<Notifications> {
  const asked = await Promise.all(ctx.extensions.agentNotifiers.map((notify) => notify(ctx, agent)));
  const setup: Notifications = agent.isSettingUp ? { run_setup_experience: true } : {};
  return Object.assign({}, ...(agent.next === null ? [] : [pendingOf(agent.next)]), setup, ...asked);
}

const pendingOf = ({ form, uuid }: NonNullable<AgentHost["next"]>): Notifications =>
  form === "script" ? { pending_script_execution_ids: [uuid] } : { pending_software_installer_ids: [uuid] };
