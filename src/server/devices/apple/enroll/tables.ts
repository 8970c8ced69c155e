import { bool, id, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly endUserSignIns: typeof endUserSignIns;
  }
}

/** A user who signs in while their device is set up (15 minutes). */
export const endUserSignIns = table("end_user_sign_ins", {
  id: id(),
  created_at: time().index(),
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: text().unique(),
  /** The `ID` of the AuthnRequest, which the response must name. */
  request_id: text(),
  /** Serial number of the device, from its signed machine info. */
  serial: text(),
  udid: text(),
  /** Set by the first callback, whether it succeeds or not. */
  used: bool().default(false),
  /** Who has signed in. */
  email: text().default(""),
  name: text().default(""),
  /** SHA-256 of the token that gives the profile once, hex. */
  profile_hash: text().nullable().unique(),
});
