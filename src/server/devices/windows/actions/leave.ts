// Turns device management off for a device: it is asked to remove its enrollment.
import { syncCommand } from "../../../../syncml/value.ts";
import { endLeaving } from "../../../hosts/mdm-status/managed.ts";
import { ownMdm } from "../../../hosts/mdm-status/own.ts";
import type { Inside } from "../../../hosts/operations/kind.ts";
import { openOperations } from "../../../hosts/operations/queue.ts";
import { type Context, service } from "../../../platform/core/context.ts";
import { viewerOf } from "../../../platform/core/security/viewer.ts";
import { dropCommands } from "../../commands/rows.ts";
import { deviceOfHost, endEnrollment } from "../channel/devices.ts";
import { WINDOWS_LANE, windowsCommandKind } from "../commands/kind.ts";
import { sendWindowsCommands } from "../commands/send.ts";

export const windowsLeave = windowsCommandKind({
  name: "windows_leave",
  title: "turn off device management",
  isUpcoming: true,
  async ended(inside, { host_id, user_id }, { state }) {
    const device = state === "answered" ? await deviceOfHost(inside.store, host_id) : null;
    if (!device) return endLeaving(inside, [host_id]);
    const user = user_id === null ? null : await inside.store.users.get(user_id);
    await endEnrollment({ ...inside, user: user ? await viewerOf(inside.store, user, null) : service }, device);
  },
});

const NODE = `./Device/Vendor/MSFT/DMClient/Provider/${ownMdm.providerId}/Unenroll`;

/** Once, however often it is requested. False: the host is not a Windows device of this server. */
export async function askToLeave(inside: Context, hostId: number): Promise<boolean> {
  if (!(await deviceOfHost(inside.store, hostId))) return false;
  const open = await openOperations(inside.store, [hostId], WINDOWS_LANE);
  if (open.some(({ kind }) => kind === windowsLeave.name)) return true;
  const command = syncCommand("Exec", "", { items: [{ target: NODE, format: "chr", data: ownMdm.providerId }] });
  await sendWindowsCommands(inside, windowsLeave, [{ hostId, command }]);
  return true;
}

/** For hosts that an agent moves to another team: what the previous team has asked of their devices ends. */
export async function endDeviceRequests(
  inside: Pick<Inside, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  await dropCommands(inside, hostIds, WINDOWS_LANE);
  await endLeaving(inside, hostIds);
}
