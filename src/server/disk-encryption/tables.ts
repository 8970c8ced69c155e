import { bool, idOf, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly hostDiskEncryption: typeof hostDiskEncryption;
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
  /** Of Macs: the key as they send it, enveloped to the certificate of the device CA; base64. */
  sealed_key: text().nullable(),
  /** What the user of the host wants its agent to do, until the agent has been sent it. */
  asked: text<"escrow" | "rotate">().nullable(),
  /** When a Mac was last asked for its key. */
  key_asked_at: time().nullable(),
  /** BitLocker: whether a PIN has to be typed in before Windows starts; null: not reported. */
  has_pin: bool().nullable(),
  /** LUKS: salt and slot of the key, which are needed to remove it again. */
  key_salt: text().nullable().secret(),
  key_slot: int().nullable(),
  key_updated_at: time().nullable(),
  /** Why the agent could not escrow a key. */
  client_error: text().default(""),
});
