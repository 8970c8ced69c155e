import { channels, hostsPayload } from "../core/channels.ts";
import type { ServerTx } from "../core/tables.ts";
import type { DiskEncryptionStatus } from "./tables.ts";

export interface DiskState {
  readonly id: number;
  readonly status: DiskEncryptionStatus | null;
  readonly detail: string;
}

/** Sets the state of hosts' disks. Their keys stay. */
export async function setDiskStates(store: ServerTx, states: readonly DiskState[]): Promise<void> {
  if (states.length === 0) return;
  await store.hostDiskEncryption.upsert(states, { on: ["id"], set: ["status", "detail"], returning: [] });
  // Agents are asked according to the state.
  await store.notify(channels.hosts, hostsPayload(states.map(({ id }) => id)));
}
