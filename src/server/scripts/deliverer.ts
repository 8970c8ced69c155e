// The step that hands a lock, unlock or wipe to a device. One way to devices is one deliverer.
import type { Context } from "../core/context.ts";
import { ApiError, invalid } from "../core/errors.ts";
import type { HostRow } from "../hosts/access.ts";
import { scriptDeliverer } from "./script-deliverer.ts";

export type HostAction = "lock" | "unlock" | "wipe";

export interface Deliverer {
  /** Whether this is how such an action comes to hosts of this platform. The first deliverer that says so is taken. */
  serves(host: HostRow, action: HostAction): boolean;
  /** What the host lacks for it to be reached, as the reason of a refusal; null: it is reached. */
  reaches(ctx: Context, host: HostRow): Promise<string | null>;
  /** Puts the action on its way, in the caller's transaction. */
  deliver(ctx: Context, host: HostRow, action: HostAction): Promise<Delivery>;
}

export interface Delivery {
  /** What the outcome will be told under. */
  readonly reference: string;
  /** PIN that will open the device again. */
  readonly pin: string | null;
}

const deliverers: readonly Deliverer[] = [scriptDeliverer];

/** The way to this host, or the refusal that names what it lacks. */
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
