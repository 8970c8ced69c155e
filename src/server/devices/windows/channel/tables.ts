import { bool, id, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly windowsEnrollments: typeof windowsEnrollments;
    readonly windowsNonces: typeof windowsNonces;
  }
}

/** Enrolled Windows devices: one for each host. */
export const windowsEnrollments = table("windows_enrollments", {
  id: id(),
  created_at: time(),
  /** What the device calls itself in its messages. */
  device_id: text().unique(),
  /** Id of the hardware: it stays when Windows is installed again. */
  hardware_id: text().index(),
  host_id: ref("hosts").unique(),
  /** `removed`: it has left, or was removed. */
  state: text<"enrolled" | "removed">().default("enrolled"),
  kind: text<"manual" | "automatic">().default("manual"),
  /** No agent proved which host the device is: it is a host of its own, until that of an agent has its serial number. */
  is_alone: bool().default(false).index(),
  /** What the firmware calls the device; empty: it was not asked, or has not answered. */
  serial: text().default("").same(),
  /** The certificate of the device. */
  identity_id: ref("device_identities").nullable(),
  /** Name and secret by which it authenticates with a digest. */
  account: text().unique(),
  secret: text().secret(),
  enrolled_at: time(),
});

/** What devices have to use in the digest of one message (5 minutes). */
export const windowsNonces = table("windows_nonces", {
  id: id(),
  enrollment_id: ref("windows_enrollments").onDelete("cascade"),
  /** Base64. */
  nonce: text(),
  expires_at: time().index(),
});
