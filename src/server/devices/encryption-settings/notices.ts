// What agents are asked about the encryption of their host's disk (docs/protocols/managed-agent.md, Configuration).

import type { AgentNotifications } from "../../../api/delivery/managed-agent.ts";
import type { AgentHost } from "../../certificates/host-authentication/agent-hosts.ts";
import { escrowsKeys, isSentNow } from "../../hosts/disk-encryption/requests.ts";
import type { Context } from "../../platform/core/context.ts";
import { mustEncrypt } from "../../settings/app-config/sections/mdm-rules.ts";
import { mdmOfTeam } from "../../settings/teams/mdm.ts";

export async function diskEncryptionNotices(
  ctx: Pick<Context, "config" | "store">,
  { hostId, teamId, platform, disk, mdm }: AgentHost,
): Promise<AgentNotifications> {
  const { store } = ctx;
  if (disk === null) return {};
  if (platform === "windows") {
    // After an error the agent tries again by itself, as long as this is wanted.
    const isWanted = async () =>
      mdm?.connected_to_svc === true && !mdm.is_server && mustEncrypt(await mdmOfTeam(ctx, teamId), "windows");
    const hasFailed = disk.status === "failed" || (disk.status === "action_required" && disk.client_error !== "");
    const isAsked = disk.status === "enforcing" || (hasFailed && (await isWanted()));
    return isAsked ? { enforce_bitlocker_encryption: true } : {};
  }
  if (platform === "darwin") {
    const isUnreadable = disk.status === "action_required" && disk.detail === "rotate_key";
    // The agent repeats what it is asked until the new key has arrived.
    const isWanted = isUnreadable || (disk.asked === "rotate" && (await isSentNow(store, hostId, "rotate")));
    return isWanted ? { rotate_disk_encryption_key: true } : {};
  }
  // The agent shows a dialog each time it gets this.
  if (disk.asked !== "escrow" || !(await isSentNow(store, hostId, "escrow"))) return {};
  // The disk may have been decrypted since, or the setting turned off. Caches may not know that yet.
  const host = await store.hosts.get(hostId);
  const current = { store, config: ctx.config.over(store) };
  const isEscrow = host?.disk_encryption_enabled === true && (await escrowsKeys(current, host.team_id));
  return isEscrow ? { run_disk_encryption_escrow: true } : {};
}
