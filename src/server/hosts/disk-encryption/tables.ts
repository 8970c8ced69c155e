import type { DiskKeySource } from "../../../api/inventory/host-details.ts";
import { bool, id, idOf, int, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly hostDiskEncryption: typeof hostDiskEncryption;
    readonly diskKeyHistory: typeof diskKeyHistory;
  }
}

export type DiskEncryptionStatus =
  | "verified"
  | "verifying"
  | "action_required"
  | "enforcing"
  | "failed"
  | "removing_enforcement";

/** The disk encryption status of a host and its escrowed key. */
export const hostDiskEncryption = table("host_disk_encryption", {
  id: idOf("hosts"),
  status: text<DiskEncryptionStatus>().nullable().index(),
  detail: text().default(""),
  key: text().nullable().secret(),
  /** The key of a Mac as it sends it, enveloped to the certificate of the device CA; base64. */
  sealed_key: text().nullable(),
  /** What the user of the host wants its agent to do, until the agent has been sent it. */
  asked: text<"escrow" | "rotate">().nullable(),
  /** When a Mac was last asked for its key. */
  key_asked_at: time().nullable(),
  /** BitLocker: whether Windows encrypts the disk now. It is protected once that is done. */
  is_encrypting: bool().default(false),
  /** BitLocker: whether a PIN has to be typed in before Windows starts; null: not reported. */
  has_pin: bool().nullable(),
  /** LUKS: salt and slot of the key, which are needed to remove it again. */
  key_salt: text().nullable().secret(),
  key_slot: int().nullable(),
  key_updated_at: time().nullable(),
  /** Why the agent could not escrow a key. */
  client_error: text().default(""),
});

/**
 * The last keys of each host, the current one included. Each has a `key` or a `sealed_key`, like those of
 * `hostDiskEncryption`.
 */
export const diskKeyHistory = table("disk_key_history", {
  id: id(),
  host_id: ref("hosts").index(),
  key: text().nullable().secret(),
  sealed_key: text().nullable(),
  key_salt: text().nullable().secret(),
  key_slot: int().nullable(),
  /** Who has sent it: the host's agent, or its device management. */
  source: text<DiskKeySource>(),
  escrowed_at: time(),
});

type DiskRow = RowOf<typeof hostDiskEncryption>;

/** A key that was verified, or that the host has kept while nothing is demanded of it. */
export const isKeyReadable = ({ status, key_updated_at }: Pick<DiskRow, "status" | "key_updated_at">): boolean =>
  key_updated_at !== null && (status === "verified" || status === null);
