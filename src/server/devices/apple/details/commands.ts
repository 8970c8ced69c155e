// The commands by which iPhones and iPads report what agents report of other hosts.

import type { HostRow } from "../../../hosts/hosts/access.ts";
import { openOperations } from "../../../hosts/operations/queue.ts";
import { hours } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { isPhone } from "../../../platform/core/platforms.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { deviceOfHost, devicesOfHosts } from "../channel/devices.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { type AppleCommand, sendAppleCommands } from "../commands/send.ts";
import { APPLE_LANE } from "../lane.ts";
import { appleProfileCommand } from "../profiles/commands.ts";

export const appleDetails = appleCommandKind({
  name: "apple_details",
  // Sent after what users have asked for.
  priority: 20,
  keptFor: hours(1),
  // `readDetails` reads the answers.
  ended: async () => {},
});

/** Names of facts of `DeviceInformation`. */
const QUERIES = [
  "DeviceName",
  "OSVersion",
  "BuildVersion",
  "ProductName",
  "SerialNumber",
  "DeviceCapacity",
  "AvailableDeviceCapacity",
  "WiFiMAC",
  "TimeZone",
];

export const PROFILE_LIST = "ProfileList";

const profileList = (hostId: number, isPersonal: boolean): AppleCommand => ({
  hostId,
  command: { RequestType: PROFILE_LIST, ManagedOnly: isPersonal },
});

/**
 * Commands that ask for details. On devices that belong to their users, only what was installed by device management
 * may be listed.
 */
export const detailCommands = (hostId: number, isPersonal: boolean): AppleCommand[] => [
  { hostId, command: { RequestType: "DeviceInformation", Queries: QUERIES } },
  { hostId, command: { RequestType: "InstalledApplicationList", ManagedAppsOnly: isPersonal } },
  { hostId, command: { RequestType: "CertificateList", ManagedOnly: isPersonal } },
  profileList(hostId, isPersonal),
];

/** Requests the details of iPhones and iPads, unless they were requested and have not arrived yet. */
export async function requestDetails(inside: Context, hosts: readonly Pick<HostRow, "id" | "platform">[]) {
  const hostIds = hosts.filter(({ platform }) => isPhone(platform)).map(({ id }) => id);
  if (hostIds.length === 0) return;
  const open = await openOperations(inside.store, hostIds, APPLE_LANE);
  const waiting = new Set(open.filter(({ kind }) => kind === appleDetails.name).map(({ host_id }) => host_id));
  const devices = await devicesOfHosts(inside.store, hostIds);
  const commands = devices.flatMap(({ host_id, kind }) =>
    waiting.has(host_id) ? [] : detailCommands(host_id, kind === "personal"),
  );
  if (commands.length > 0) await sendAppleCommands(inside, appleDetails, commands);
}

export const appleDetailsListener: AppleDeviceListener = {
  async enrolled(inside, { kind }, { host: { id, platform } }) {
    if (isPhone(platform)) await sendAppleCommands(inside, appleDetails, detailCommands(id, kind === "personal"));
  },
  async answered(inside, { host_id }, kind) {
    if (kind === appleProfileCommand.name) await requestProfileList(inside, host_id);
  },
};

/** Shows whether a profile is installed. One list serves all profiles that wait: they come before it. */
async function requestProfileList(inside: Context, hostId: number): Promise<void> {
  const { store } = inside;
  const verifying = and(eq("host_id", hostId), eq("kind", "profile"), eq("status", "verifying"));
  if ((await store.hostProfiles.count(verifying)) === 0) return;
  const host = await store.hosts.get(hostId);
  const device = host && isPhone(host.platform) ? await deviceOfHost(store, hostId) : null;
  if (!device) return;
  const waiting = and(eq("host_id", hostId), eq("request_type", PROFILE_LIST), eq("command_status", "pending"));
  const lists = (await store.mdmCommands.pick(["id"], { where: waiting })).map(({ id }) => id);
  // One that was sent may have been answered before the profile was installed.
  if ((await store.operations.count(and(oneOf("id", lists), eq("state", "queued")))) > 0) return;
  await sendAppleCommands(inside, appleDetails, [profileList(hostId, device.kind === "personal")]);
}
