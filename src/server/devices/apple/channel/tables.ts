import { bool, id, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly appleEnrollments: typeof appleEnrollments;
  }
}

/** Enrolled Apple devices, and users of Macs who have a channel of their own. */
export const appleEnrollments = table("apple_enrollments", {
  id: id(),
  created_at: time(),
  /** UDID, or the EnrollmentID of a personal device; for a user's channel with `:` and the user's id. */
  enrollment_id: text().unique(),
  host_id: ref("hosts"),
  /** Whether this is the channel of a user. */
  is_user: bool().default(false),
  /** `authenticated`: it has not sent its push token yet. `removed`: it has left, or was removed. */
  state: text<"authenticated" | "enabled" | "removed">().default("authenticated"),
  kind: text<"manual" | "automatic" | "personal">().default("manual"),
  /** The certificate with which it has authenticated. No other is accepted. */
  identity_id: ref("device_identities").nullable(),
  topic: text().default(""),
  /** Address to which the enrollment profile lets the device connect; empty: not known. */
  server_url: text().default(""),
  /** Hexadecimal. */
  token: text().nullable().secret(),
  token_at: time().nullable(),
  push_magic: text().nullable().secret(),
  /** Base64. */
  unlock_token: text().nullable().secret(),
  bootstrap_token: text().nullable().secret(),
  /** The device waits in its setup assistant. */
  awaiting_configuration: bool().default(false),
  enrolled_at: time().nullable(),
  /** When set, listeners are called once when the device connects by itself after this time (`returned`). */
  returns_after: time().nullable(),
});
