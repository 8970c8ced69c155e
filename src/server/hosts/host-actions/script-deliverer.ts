// Delivers lock, unlock and wipe as scripts of the managed agent (docs/protocols/managed-agent.md, Lock, unlock and
// wipe).
import { invalid } from "../../platform/core/errors.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { addOperations } from "../operations/queue.ts";
import type { Deliverer, HostAction } from "./deliverer.ts";
import { hostActionKinds } from "./kinds.ts";
import { linuxLock } from "./texts/linux-lock.ts";
import { linuxUnlock } from "./texts/linux-unlock.ts";
import { linuxWipe } from "./texts/linux-wipe.ts";
import { windowsLock } from "./texts/windows-lock.ts";
import { windowsUnlock } from "./texts/windows-unlock.ts";

type Family = ReturnType<typeof platformFamily>;

/** Windows has no wipe script: wiping requires MDM. */
const scripts: Partial<Record<Family, Partial<Record<HostAction, string>>>> = {
  linux: { lock: linuxLock, unlock: linuxUnlock, wipe: linuxWipe },
  windows: { lock: windowsLock, unlock: windowsUnlock },
};

const textFor = (host: { platform: string; platform_like: string }, action: HostAction): string | undefined =>
  scripts[platformFamily(host.platform, host.platform_like)]?.[action];

/** Seconds: ending sessions and locking accounts may take minutes. */
const TIMEOUT = 300;

export const scriptDeliverer: Deliverer = {
  serves: (host, action) => textFor(host, action) !== undefined,

  async require(ctx, host) {
    if ((await ctx.store.managedAgents.get(host.id)) === null)
      throw invalid("host_id", `the host ${host.display_name} has no managed agent, which runs scripts`);
    // Null: the agent is too old to report it. It reports exit code -2 if scripts are disabled.
    if (host.scripts_enabled === false) throw invalid("host_id", `${host.display_name} does not have scripts enabled`);
  },

  async deliver(ctx, host, action) {
    const content = textFor(host, action) ?? "";
    const [operation] = await addOperations(ctx, hostActionKinds[action], {
      hostIds: [host.id],
      content,
      timeout: TIMEOUT,
    });
    return { reference: operation!.uuid, pin: null };
  },
};
