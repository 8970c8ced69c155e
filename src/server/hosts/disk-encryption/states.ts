import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { recordSettings } from "../os-settings/statuses.ts";
import type { SettingStatus } from "../os-settings/tables.ts";
import type { DiskEncryptionStatus } from "./tables.ts";

interface DiskState {
  readonly id: number;
  readonly status: DiskEncryptionStatus | null;
  readonly detail: string;
}

/** Steps that are still to be done are pending. */
const settingOf: Record<DiskEncryptionStatus, SettingStatus> = {
  verified: "verified",
  verifying: "verifying",
  action_required: "pending",
  enforcing: "pending",
  removing_enforcement: "pending",
  failed: "failed",
};

/** The state of a disk is one of the host's settings. */
export const recordDisks = (
  store: Pick<ServerTx, "hostSettings" | "hosts">,
  disks: readonly Pick<DiskState, "id" | "status">[],
): Promise<void> =>
  recordSettings(
    store,
    "disk_encryption",
    disks.map(({ id, status }) => ({ id, status: status && settingOf[status] })),
  );

/** Sets the state of hosts' disks. Their keys stay. */
export async function setDiskStates(store: ServerTx, states: readonly DiskState[]): Promise<void> {
  if (states.length === 0) return;
  await store.hostDiskEncryption.upsert(states, { on: ["id"], set: ["status", "detail"], returning: [] });
  await recordDisks(store, states);
  // Agents are asked according to the state.
  await store.notify(channels.hosts, hostsPayload(states.map(({ id }) => id)));
}
