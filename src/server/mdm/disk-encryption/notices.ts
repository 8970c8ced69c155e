// What agents are asked about the encryption of their host's disk (agent protocol, section 11).
import { isSentNow } from "../../disk-encryption/asked.ts";
import type { AgentNotifier } from "../../managed-agent/notifications.ts";

export const diskEncryptionNotices: AgentNotifier = async ({ store }, { hostId, platform, disk }) => {
  if (disk === null) return {};
  if (platform === "windows") return disk.status === "enforcing" ? { enforce_bitlocker_encryption: true } : {};
  if (platform === "darwin") {
    const isUnreadable = disk.status === "action_required" && disk.detail === "rotate_key";
    // The agent repeats what it is asked until the new key has arrived.
    const isWanted = isUnreadable || (disk.asked === "rotate" && (await isSentNow(store, hostId, "rotate")));
    return isWanted ? { rotate_disk_encryption_key: true } : {};
  }
  // The agent shows a dialog each time it gets this.
  const isEscrow = disk.asked === "escrow" && (await isSentNow(store, hostId, "escrow"));
  return isEscrow ? { run_disk_encryption_escrow: true } : {};
};
