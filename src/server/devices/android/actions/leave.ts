// Turns device management off for a device, and ends what was asked of devices that have left.

import { endLeaving } from "../../../hosts/mdm-status/managed.ts";
import type { Inside } from "../../../hosts/operations/kind.ts";
import { openOperations } from "../../../hosts/operations/queue.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { eq } from "../../../platform/store/query.ts";
import { dropCommands } from "../../commands/rows.ts";
import { androidCommandKind, DELETE_DEVICE } from "../commands/kind.ts";
import { sendAndroidCommands } from "../commands/send.ts";
import { ANDROID_LANE } from "../lane.ts";

export const androidLeave = androidCommandKind({
  name: "android_leave",
  title: "turn off device management",
  // The sender ends the enrollment, too.
  ended: async (inside, { host_id }, { state }) => {
    if (state !== "answered") await endLeaving(inside, [host_id]);
  },
});

/**
 * Once, however often it is requested. False: the host is not an Android device of this server. 422 for a device of the
 * organization, which would lose all its data.
 */
export async function askToLeave(inside: Context, hostId: number): Promise<boolean> {
  const device = await inside.store.androidDevices.first({ where: eq("host_id", hostId) });
  if (!device) return false;
  if (!device.is_personal)
    throw invalid("id", "the device belongs to the organization, and loses all its data if it leaves: wipe it instead");
  const open = await openOperations(inside.store, [hostId], ANDROID_LANE);
  if (open.some(({ kind }) => kind === androidLeave.name)) return true;
  await sendAndroidCommands(inside, androidLeave, [{ hostId, type: DELETE_DEVICE }]);
  return true;
}

/** For hosts that an agent moves to another team: what the previous team has asked of their devices ends. */
export async function endDeviceRequests(
  inside: Pick<Inside, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  await dropCommands(inside, hostIds, ANDROID_LANE);
  await endLeaving(inside, hostIds);
}
