// Removes the passcode of an iPhone or iPad, so that its user can set a new one.

import { refusePersonal } from "../../../hosts/host-actions/actions.ts";
import { hostFor } from "../../../hosts/hosts/access.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { isPhone } from "../../../platform/core/platforms.ts";
import { deviceOfHost } from "../channel/devices.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { requireDevice } from "./deliverer.ts";

const command = { RequestType: "ClearPasscode" } as const;

export const appleClearPasscode = appleCommandKind({
  name: "apple_clear_passcode",
  title: "clear passcode",
  isUpcoming: true,
  async secrets({ store }, { host_id }) {
    const token = (await deviceOfHost(store, host_id))?.unlock_token;
    if (token == null) throw new Error("the device has no unlock token any more");
    return { UnlockToken: Buffer.from(token, "base64") };
  },
  // The command shows what the device has answered.
  ended: async () => {},
});

export async function clearPasscode(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:lock", id);
  if (!isPhone(host.platform)) throw invalid("id", `${host.display_name} is not an iPhone or iPad`);
  await refusePersonal(ctx, host, "clearing the passcode");
  const uuid = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const { unlock_token } = await requireDevice(inside, host, "clearing the passcode");
    if (unlock_token === null)
      throw invalid("id", `${host.display_name} has not sent a token that clears its passcode`);
    const [queued] = await sendAppleCommands(inside, appleClearPasscode, [{ hostId: id, command }]);
    const details = { host_id: id, host_display_name: host.display_name };
    await recordActivity(inside, "cleared_passcode", details, { hostId: id });
    return queued!;
  }, operationLock(id));
  return { command_uuid: uuid, request_type: command.RequestType, platform: host.platform };
}
