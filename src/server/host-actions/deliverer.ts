// Delivery of lock, unlock and wipe to devices. Each way of reaching devices is one deliverer.
import type { Context } from "../core/context.ts";
import { ApiError, invalid } from "../core/errors.ts";
import type { HostRow } from "../hosts/access.ts";
import { scriptDeliverer } from "./script-deliverer.ts";

export type HostAction = "lock" | "unlock" | "wipe";

export interface Deliverer {
  /** Whether it delivers this action to hosts of this platform. The first matching deliverer is used. */
  serves(host: HostRow, action: HostAction): boolean;
  /** Why the host cannot be reached, as an error message; null if it can. */
  reaches(ctx: Context, host: HostRow): Promise<string | null>;
  /** Queues the action in the caller's transaction. */
  deliver(ctx: Context, host: HostRow, action: HostAction): Promise<Delivery>;
}

export interface Delivery {
  /** Identifies the action when its result is reported. */
  readonly reference: string;
  /** The PIN that unlocks the device. */
  readonly pin: string | null;
}

const deliverers: readonly Deliverer[] = [scriptDeliverer];

/** The deliverer for this host; an error that names the missing requirement if there is none. */
export async function delivererFor(ctx: Context, host: HostRow, action: HostAction): Promise<Deliverer> {
  const found = deliverers.find((deliverer) => deliverer.serves(host, action));
  if (!found) throw noWay(host, action);
  const lacking = await found.reaches(ctx, host);
  if (lacking !== null) throw invalid("host_id", lacking);
  return found;
}

function noWay({ platform, display_name }: HostRow, action: HostAction): ApiError {
  if (platform === "windows") {
    const reason = `Windows MDM isn't turned on: a Windows host needs it for ${action}`;
    return new ApiError(400, reason, [{ name: "base", reason }]);
  }
  if (platform === "darwin" || platform === "ios" || platform === "ipados")
    return invalid("host_id", `${display_name} does not have MDM turned on, which ${platform} needs for ${action}`);
  return invalid("host_id", `${action} is not supported on the platform '${platform}'`);
}
