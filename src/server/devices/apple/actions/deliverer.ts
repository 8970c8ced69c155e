// Delivers lock, unlock and wipe to Apple devices (docs/protocols/apple.md, Commands).
import type { PlistDict } from "../../../../plist/value.ts";
import type { Deliverer, HostAction } from "../../../hosts/host-actions/deliverer.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { Context } from "../../../platform/core/context.ts";
import { type ApiError, invalid, mdmOff } from "../../../platform/core/errors.ts";
import { byId } from "../../../platform/core/maps.ts";
import { isPhone } from "../../../platform/core/platforms.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { requireAppleMdm } from "../../gate.ts";
import { deviceOfHost, devicesOfHosts } from "../channel/devices.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { appleActionKinds } from "./kinds.ts";

const isMac = ({ platform }: HostRow): boolean => platform === "darwin";

export const appleDeliverer: Deliverer = {
  serves: (host) => isMac(host) || isPhone(host.platform),

  async refusals({ store, config }, hosts, action) {
    const hostIds = hosts.map(({ id }) => id);
    const locks = await locksOf(store, hostIds);
    const devices = new Set((await devicesOfHosts(store, hostIds)).map(({ host_id }) => host_id));
    const { mdm } = await config.over(store).current();
    const refusalOf = (host: HostRow): ApiError | null => {
      const lock = locks.get(host.id);
      // The PIN is known here: it unlocks a Mac that cannot be reached any more, too.
      if (action === "unlock" && lock?.pin) return null;
      if (!devices.has(host.id)) return noDevice(host, action);
      if (!mdm.enabled_and_configured) return mdmOff();
      return lock !== undefined && commandFor(host, action) === undefined
        ? invalid("host_id", `the PIN that unlocks ${host.display_name} is not known any more`)
        : null;
    };
    return new Map(hosts.map((host) => [host.id, refusalOf(host)] as const).filter(isRefused));
  },

  async deliver(ctx, hosts, action) {
    const { store, random, config } = ctx;
    const locks = await locksOf(
      store,
      hosts.map(({ id }) => id),
    );
    const { org_info } = await config.over(store).current();
    const isByPin = ({ id }: HostRow) => action === "unlock" && Boolean(locks.get(id)?.pin);
    const commands = hosts.flatMap((host) => {
      const command = isByPin(host) ? undefined : commandFor(host, action);
      return command === undefined ? [] : { hostId: host.id, command: command(org_info.org_name) };
    });
    const uuids = await sendAppleCommands(ctx, appleActionKinds[action], commands);
    const references = new Map(commands.map(({ hostId }, i) => [hostId, uuids[i]!]));
    return hosts.map((host) => {
      // A Mac that is wiped while it is locked keeps its PIN: if the wipe fails, it is still the one that unlocks it.
      const lockPin = locks.get(host.id)?.pin ?? null;
      if (isByPin(host)) return { reference: null, pin: lockPin };
      const pin = isMac(host) ? (lockPin ?? String(random.int(1_000_000)).padStart(6, "0")) : null;
      return { reference: references.get(host.id) ?? null, pin };
    });
  },
};

const isRefused = (entry: readonly [number, ApiError | null]): entry is readonly [number, ApiError] =>
  entry[1] !== null;

/** The lock states of hosts that are locked, by their ids. Devices other than Macs are locked without a PIN. */
async function locksOf(store: ServerTx, hostIds: readonly number[]) {
  return byId((await store.hostActions.getMany(hostIds)).filter(({ locked }) => locked));
}

/** Undefined: no command does it. Only its PIN unlocks a Mac. */
const commandFor = (host: HostRow, action: HostAction): ((organization: string) => Command) | undefined =>
  isMac(host) ? macCommands[action] : phoneCommands[action];

const noDevice = ({ display_name, platform }: HostRow, purpose: string): ApiError =>
  invalid("host_id", `${display_name} does not have MDM turned on, which ${platform} needs for ${purpose}`);

/** 422 unless this server manages the host as an Apple device, and 400 while device management is turned off. */
export async function requireDevice(ctx: Context, host: HostRow, purpose: string) {
  const device = await deviceOfHost(ctx.store, host.id);
  if (!device) throw noDevice(host, purpose);
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
