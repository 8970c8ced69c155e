// The state of a Mac's disk encryption: that of the profile which turns FileVault on, and whether the Mac has escrowed
// a key that this server can read (docs/protocols/apple.md, FileVault).
import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { setDiskStates } from "./states.ts";
import type { DiskEncryptionStatus } from "./tables.ts";

/** Identifier of the server's own profile. */
export const FILEVAULT_IDENTIFIER = "com.svc.disk-encryption";

/** The row of the profile on the host. */
interface ProfileOnMac {
  readonly operation_type: "install" | "remove";
  readonly status: "verified" | "verifying" | "pending" | "failed" | null;
  readonly detail: string;
}

interface MacState {
  readonly status: DiskEncryptionStatus | null;
  readonly detail: string;
}

/** Null: the Mac does not have the profile. */
export function macState(profile: ProfileOnMac | null, key: "readable" | "unreadable" | null): MacState {
  if (profile === null) return { status: null, detail: "" };
  const { operation_type, status, detail } = profile;
  if (status === "failed") return { status, detail };
  if (operation_type === "remove") return { status: "removing_enforcement", detail: "" };
  if (status === null || status === "pending") return { status: "enforcing", detail: "" };
  if (key === "readable") return { status, detail: "" };
  // Users get a new key when they log out, or by rotating it.
  return { status: "action_required", detail: key === null ? "log_out" : "rotate_key" };
}

const shown = ["id", "status", "detail", "sealed_key", "key_updated_at"] as const;

/** Compares these hosts with their profiles and keys, in the transaction that has changed one of these. */
export async function settleMacs(store: ServerTx, hostIds: readonly number[]): Promise<void> {
  for await (const ids of parts([...new Set(hostIds)])) {
    const rows = await store.hostProfiles.pick(["host_id", "operation_type", "status", "detail"], {
      where: and(oneOf("host_id", ids), eq("identifier", FILEVAULT_IDENTIFIER)),
    });
    const profiles = new Map(rows.map((row) => [row.host_id, row]));
    const stored = byId(await store.hostDiskEncryption.pick(shown, { where: oneOf("id", ids) }));
    const changed = ids.flatMap((id) => {
      const before = stored.get(id);
      const key = before?.sealed_key == null ? null : before.key_updated_at === null ? "unreadable" : "readable";
      const after = macState(profiles.get(id) ?? null, key);
      const isSame = after.status === (before?.status ?? null) && after.detail === (before?.detail ?? "");
      return isSame ? [] : { id, ...after };
    });
    if (changed.length === 0) continue;
    await setDiskStates(store, changed);
    if (changed.some(({ status }) => status === "action_required")) await store.notify(channels.diskKeys, "");
  }
}

/** Keeps a key as the Mac has sent it. `readAt`: since when it is known to be readable; null if it is not. */
export async function keepEnvelope(
  store: ServerTx,
  hostId: number,
  { sealed, readAt }: { readonly sealed: string; readonly readAt: string | null },
): Promise<void> {
  await store.hostDiskEncryption.upsert(
    [{ id: hostId, sealed_key: sealed, key_updated_at: readAt, client_error: "" }],
    { on: ["id"], returning: [] },
  );
  await settleMacs(store, [hostId]);
}

export async function keysAreAsked(store: ServerTx, hostIds: readonly number[], at: string): Promise<void> {
  await store.hostDiskEncryption.update({ where: oneOf("id", hostIds), set: { key_asked_at: at } });
}
