// Delivers lock, unlock and wipe as scripts of the managed agent (docs/protocols/managed-agent.md, Lock, unlock and
// wipe).
import { type ApiError, invalid } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { platformFamily } from "../../platform/core/platforms.ts";
import { oneOf } from "../../platform/store/query.ts";
import { addDifferent } from "../operations/queue.ts";
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

  async refusals({ store }, hosts) {
    const hostIds = hosts.map(({ id }) => id);
    const agents = byId(await store.managedAgents.pick(["id"], { where: oneOf("id", hostIds) }));
    const refusals = new Map<number, ApiError>();
    for (const { id, display_name, scripts_enabled } of hosts) {
      if (!agents.has(id))
        refusals.set(id, invalid("host_id", `the host ${display_name} has no managed agent, which runs scripts`));
      // Null: the agent is too old to report it. It reports exit code -2 if scripts are disabled.
      else if (scripts_enabled === false)
        refusals.set(id, invalid("host_id", `${display_name} does not have scripts enabled`));
    }
    return refusals;
  },

  async deliver(ctx, hosts, action) {
    const each = hosts.map((host) => ({ hostId: host.id, content: textFor(host, action) ?? "" }));
    const operations = await addDifferent(ctx, hostActionKinds[action], { each, timeout: TIMEOUT });
    return operations.map(({ uuid }) => ({ reference: uuid, pin: null }));
  },
};
