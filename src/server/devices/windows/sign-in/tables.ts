import { bool, id, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly windowsSignIns: typeof windowsSignIns;
    readonly windowsUsedTokens: typeof windowsUsedTokens;
  }
}

/** A user who signs in with the identity provider to enroll a device (15 minutes). */
export const windowsSignIns = table("windows_sign_ins", {
  id: id(),
  created_at: time().index(),
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: text().unique(),
  /** The `ID` of the AuthnRequest, which the response must name. */
  request_id: text(),
  /** The address within the device that gets the token. */
  return_to: text(),
  /** Set by the first callback, whether it succeeds or not. */
  used: bool().default(false),
  /** Who has signed in. */
  email: text().default(""),
  /** SHA-256 of what the page with the terms gives a token for, once, hex. */
  ticket_hash: text().nullable().unique(),
});

/** Tokens with which a device has enrolled, until they expire: no other device enrolls with them. */
export const windowsUsedTokens = table("windows_used_tokens", {
  id: id(),
  /** SHA-256 of the token, hex. */
  token_hash: text().unique(),
  device_id: text(),
  expires_at: time().index(),
});
