// Delivery of lock, unlock and wipe to devices. Each way of reaching devices is one deliverer; `server/extensions.ts`
// lists them.

import type { WindowsWipeType } from "../../../api/hosts/host-actions.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { HostRow } from "../hosts/access.ts";

export type HostAction = "lock" | "unlock" | "wipe";

export interface ActionOptions {
  /** Whether the caller wants to know the PIN that unlocks the device. */
  readonly viewPin?: boolean;
  /** How a Windows device is erased; nothing to other hosts. */
  readonly wipeType?: WindowsWipeType;
  /** Why the caller wants it, for the activity. */
  readonly reason?: string;
}

export interface Deliverer {
  /** Whether the deliverer brings this action to hosts of this platform. The first matching deliverer is used. */
  serves(host: HostRow, action: HostAction): boolean;
  /** Whether the deliverer serves devices, too, that belong to their users. */
  readonly servesPersonal?: true;
  /** Throws an error that names what is missing, if the action cannot be delivered to the host. */
  require(ctx: Context, host: HostRow, action: HostAction): Promise<void>;
  /** Queues the action in the caller's transaction. */
  deliver(ctx: Context, host: HostRow, action: HostAction, options: ActionOptions): Promise<Delivery>;
}

export const hostActionDeliverers = extensionPoint<Deliverer>("deliverers of actions on hosts");

export interface Delivery {
  /** Identifies the action when its result is reported. Null: nothing is asked of the host. */
  readonly reference: string | null;
  /** The PIN that unlocks the device. */
  readonly pin: string | null;
}

export const delivererOf = ({ extensions }: Context, host: HostRow, action: HostAction): Deliverer | undefined =>
  extensions.of(hostActionDeliverers).find((deliverer) => deliverer.serves(host, action));

/** The deliverer for this host; an error that names the missing requirement if there is none. */
export async function delivererFor(ctx: Context, host: HostRow, action: HostAction): Promise<Deliverer> {
  const deliverer = delivererOf(ctx, host, action);
  if (!deliverer) throw invalid("host_id", `${action} is not supported on the platform '${host.platform}'`);
  await deliverer.require(ctx, host, action);
  return deliverer;
}
