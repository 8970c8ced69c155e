import { bool, id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly deviceSignIns: typeof deviceSignIns;
    readonly deviceSessions: typeof deviceSessions;
  }
}

/** A sign-in on a device's page that waits for the identity provider's response (five minutes). */
export const deviceSignIns = table("device_sign_ins", {
  id: id(),
  created_at: time().index(),
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: text().unique(),
  /** The `ID` of the AuthnRequest, which the response must name. */
  request_id: text(),
  host_id: ref("hosts").onDelete("cascade"),
  /** Set by the first callback, whether it succeeds or not. */
  used: bool().default(false),
});

/** Browsers in which somebody has signed in on the page of a host. */
export const deviceSessions = table("device_sessions", {
  id: id(),
  created_at: time(),
  cookie_hash: text().unique(),
  host_id: ref("hosts").onDelete("cascade"),
  expires_at: time().index(),
});
