// Whether a host can be locked, unlocked, erased and the like now, and if not why: the server's rules, so that nothing
// is offered that it would refuse.
import type { Host } from "../../../../api/hosts/host.ts";

const phones = ["ios", "ipados"];

export const isPhone = ({ platform }: Host): boolean => phones.includes(platform);
const isApple = (host: Host): boolean => host.platform === "darwin" || isPhone(host);
/** Windows and the distributions of Linux, of which there are many. */
const isScriptable = ({ platform }: Host): boolean =>
  !["darwin", "ios", "ipados", "android", "chrome", ""].includes(platform);

/** Why the host takes no commands of this kind at all. Undefined: it does. */
function inability(host: Host): string | undefined {
  const { mdm } = host;
  if (mdm.enrollment_status === "On (personal)") return "The device belongs to its user";
  if (isApple(host)) return mdm.connected_to_svc ? undefined : "Device management is off";
  if (!isScriptable(host)) return "Not possible on this platform";
  if (host.agent_version === null || host.agent_version === undefined)
    return "It has no managed agent, which runs scripts";
  return host.scripts_enabled === false ? "Scripts are disabled on the host" : undefined;
}

const pending = ({ mdm }: Host): string | undefined =>
  mdm.pending_action === "" ? undefined : `A ${mdm.pending_action} is pending`;

export const lockBlock = (host: Host): string | undefined =>
  inability(host) ??
  pending(host) ??
  (host.mdm.device_status === "unlocked" ? undefined : `It is ${host.mdm.device_status}`);

export const unlockBlock = (host: Host): string | undefined =>
  inability(host) ?? pending(host) ?? (host.mdm.device_status === "locked" ? undefined : "It is not locked");

export const wipeBlock = (host: Host): string | undefined =>
  inability(host) ?? pending(host) ?? (host.mdm.device_status === "wiped" ? "It is wiped" : undefined);

export const passcodeBlock = (host: Host): string | undefined => inability(host) ?? pending(host);

export function unenrollBlock({ mdm }: Host): string | undefined {
  if (!mdm.connected_to_svc) return "Device management is off";
  return mdm.unenroll_pending ? "It is being turned off" : undefined;
}
