// Turns device management off for a device: it is asked to remove its enrollment profile.

import { endLeaving } from "../../../hosts/mdm-status/managed.ts";
import { ownMdm } from "../../../hosts/mdm-status/own.ts";
import { openOperations } from "../../../hosts/operations/queue.ts";
import { requesterOf } from "../../../hosts/operations/requester.ts";
import type { Context } from "../../../platform/core/context.ts";
import { deviceOfHost, endEnrollment } from "../channel/devices.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { APPLE_LANE } from "../lane.ts";

export const appleLeave = appleCommandKind({
  name: "apple_leave",
  title: "turn off device management",
  isUpcoming: true,
  async ended(inside, operation, { state }) {
    const { host_id } = operation;
    const device = state === "answered" ? await deviceOfHost(inside.store, host_id) : null;
    if (!device) return endLeaving(inside, [host_id]);
    await endEnrollment(await requesterOf(inside, operation), device);
  },
});

/** Once, however often it is requested. False: the host is not an Apple device of this server. */
export async function askToLeave(inside: Context, hostId: number): Promise<boolean> {
  if (!(await deviceOfHost(inside.store, hostId))) return false;
  const open = await openOperations(inside.store, [hostId], APPLE_LANE);
  if (open.some(({ kind }) => kind === appleLeave.name)) return true;
  const command = { RequestType: "RemoveProfile", Identifier: ownMdm.payloadIdentifier };
  await sendAppleCommands(inside, appleLeave, [{ hostId, command }]);
  return true;
}
