// Delivers lock, unlock and wipe to Apple devices (docs/protocols/apple.md, Commands).
import type { PlistDict } from "../../../../plist/value.ts";
import type { Deliverer, HostAction } from "../../../hosts/host-actions/deliverer.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { isPhone } from "../../../platform/core/platforms.ts";
import { requireAppleMdm } from "../../gate.ts";
import { deviceOfHost } from "../channel/devices.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { appleActionKinds } from "./kinds.ts";

const isMac = ({ platform }: HostRow): boolean => platform === "darwin";

export const appleDeliverer: Deliverer = {
  serves: (host) => isMac(host) || isPhone(host.platform),

  async require(ctx, host, action) {
    // The PIN is known here: it unlocks a Mac that cannot be reached any more, too.
    if (action === "unlock" && (await pinOfLock(ctx, host)) !== null) return;
    await requireDevice(ctx, host, action);
  },

  async deliver(ctx, host, action) {
    const { store, random } = ctx;
    // A Mac that is wiped while it is locked keeps its PIN: if the wipe fails, it is still the one that unlocks it.
    const lockPin = await pinOfLock(ctx, host);
    if (action === "unlock" && lockPin !== null) return { reference: null, pin: lockPin };
    const pin = isMac(host) ? (lockPin ?? String(random.int(1_000_000)).padStart(6, "0")) : null;
    const command = isMac(host) ? macCommands[action] : phoneCommands[action];
    if (!command) throw invalid("host_id", `the PIN that unlocks ${host.display_name} is not known any more`);
    const { org_info } = await ctx.config.over(store).current();
    const [reference] = await sendAppleCommands(ctx, appleActionKinds[action], [
      { hostId: host.id, command: command(org_info.org_name) },
    ]);
    return { reference: reference!, pin };
  },
};

/** Null: the host is not locked, or is a device without a PIN. */
async function pinOfLock({ store }: Context, { id }: HostRow): Promise<string | null> {
  const row = await store.hostActions.get(id);
  return row?.locked ? row.pin : null;
}

/** 422 unless this server manages the host as an Apple device, and 400 while device management is turned off. */
export async function requireDevice(ctx: Context, { id, display_name, platform }: HostRow, purpose: string) {
  const device = await deviceOfHost(ctx.store, id);
  if (!device)
    throw invalid("host_id", `${display_name} does not have MDM turned on, which ${platform} needs for ${purpose}`);
  await requireAppleMdm({ config: ctx.config.over(ctx.store) });
  return device;
}

type Command = PlistDict & { readonly RequestType: string };
type Commands = Readonly<Record<HostAction, (organization: string) => Command>>;

const lockedBy = (organization: string): string =>
  organization === "" ? "This device was locked by its owner." : `This device was locked by ${organization}.`;

/** The PIN is added when the command is sent. */
const macCommands: Partial<Commands> = {
  lock: (organization) => ({ RequestType: "DeviceLock", Message: lockedBy(organization) }),
  // Erases the keys of the disk, or the disk itself if that is not possible.
  wipe: () => ({ RequestType: "EraseDevice", ObliterationBehavior: "Default" }),
};

/** Lost mode, which devices accept that are supervised. */
const phoneCommands: Commands = {
  lock: (organization) => ({ RequestType: "EnableLostMode", Message: lockedBy(organization) }),
  unlock: () => ({ RequestType: "DisableLostMode" }),
  wipe: () => ({ RequestType: "EraseDevice" }),
};
