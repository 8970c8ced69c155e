// Delivery of lock, unlock and wipe to devices. Each way of reaching devices is one deliverer; `server/extensions.ts`
// lists them.

import type { WindowsWipeType } from "../../../api/hosts/host-actions.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ApiError } from "../../platform/core/errors.ts";
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
  /** The hosts to which the action cannot be delivered, each with an error that names what is missing. */
  refusals(ctx: Context, hosts: readonly HostRow[], action: HostAction): Promise<Refusals>;
  /** Queues the action for hosts that it can be delivered to, in the caller's transaction. In the order of the hosts. */
  deliver(
    ctx: Context,
    hosts: readonly HostRow[],
    action: HostAction,
    options: ActionOptions,
  ): Promise<readonly Delivery[]>;
}

/** Why something cannot be done on hosts, by their ids. Hosts that are not in it can do it. */
export type Refusals = ReadonlyMap<number, ApiError>;

export const hostActionDeliverers = extensionPoint<Deliverer>("deliverers of actions on hosts");

export interface Delivery {
  /** Identifies the action when its result is reported. Null: nothing is asked of the host. */
  readonly reference: string | null;
  /** The PIN that unlocks the device. */
  readonly pin: string | null;
}

export const delivererOf = ({ extensions }: Context, host: HostRow, action: HostAction): Deliverer | undefined =>
  extensions.of(hostActionDeliverers).find((deliverer) => deliverer.serves(host, action));
