// What the enrollment of a device, and its contacts, mean for its locks and wipes.

import { endLock, forgetActions, leaveActions } from "../../../hosts/host-actions/states.ts";
import { endLeaving } from "../../../hosts/mdm-status/managed.ts";
import type { Context } from "../../../platform/core/context.ts";
import { dropCommands } from "../../commands/rows.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { APPLE_LANE } from "../lane.ts";

export const appleActionListener: AppleDeviceListener = {
  async reset(inside, { host_id, state }) {
    await endLeaving(inside, [host_id]);
    await (state === "removed" ? leaveActions(inside, host_id) : forgetActions(inside, host_id));
  },
  // A Mac that was locked asks for commands only after its PIN was entered.
  returned: (inside, { host_id }) => endLock(inside, host_id),
};

/** For hosts that an agent moves to another team: what the previous team has asked of their devices ends. */
export async function endDeviceRequests(
  inside: Pick<Context, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  await dropCommands(inside, hostIds, APPLE_LANE);
  await endLeaving(inside, hostIds);
}
