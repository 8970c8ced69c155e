// Devices that are not managed any more, because the vendor reports them deleted, or management of Android is turned off.
import { leaveActions } from "../../../hosts/host-actions/states.ts";
import { openOperationRows, operationLock } from "../../../hosts/operations/queue.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { byId } from "../../../platform/core/maps.ts";
import { eq } from "../../../platform/store/query.ts";
import { dropCommands } from "../../commands/rows.ts";
import { endManagement } from "../../leaving/leave.ts";
import { type AndroidDeviceRow, deleteAllDevices, deleteDevice } from "../devices/enroll.ts";
import { ANDROID_LANE } from "../lane.ts";
import { answerCommand } from "./answers.ts";
import { WIPE } from "./kind.ts";

/** The device is not managed any more. */
export async function endDevice(ctx: Context, device: AndroidDeviceRow): Promise<void> {
  await ctx.store.tx(async (store) => {
    if (await deleteDevice(store, device.id)) await leave(within(ctx, store), device);
  }, operationLock(device.host_id));
}

/** Management of Android is turned off. */
export async function endAllDevices(inside: Context): Promise<void> {
  const devices = await inside.store.androidDevices.pick(["host_id", "is_personal"], {});
  for (const device of devices) await leave(inside, device);
  await deleteAllDevices(inside.store);
}

type Leaving = Pick<AndroidDeviceRow, "host_id" | "is_personal">;

async function leave(inside: Context, { host_id: hostId, is_personal }: Leaving): Promise<void> {
  await endActions(inside, hostId);
  await dropCommands(inside, [hostId], ANDROID_LANE);
  const [host] = await inside.store.hosts.pick(["uuid"], { where: eq("id", hostId) });
  await endManagement(inside, hostId, is_personal ? (host?.uuid ?? null) : null);
}

/** The device has left: a wipe that the vendor has accepted is done, and everything else ends. */
async function endActions(inside: Context, hostId: number): Promise<void> {
  const { store } = inside;
  const open = await openOperationRows(store, hostId, ANDROID_LANE);
  const ids = open.map(({ id }) => id);
  const accepted = new Set((await store.androidCommands.getMany(ids)).map(({ id }) => id));
  const commands = byId(await store.mdmCommands.getMany(ids));
  for (const operation of open)
    if (accepted.has(operation.id) && commands.get(operation.id)?.request_type === WIPE)
      await answerCommand(inside, operation, { isDone: true, detail: "" }, {});
  await leaveActions(inside, hostId);
}
