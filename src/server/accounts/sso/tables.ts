import { bool, id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly ssoSessions: typeof ssoSessions;
    readonly ssoAssertions: typeof ssoAssertions;
  }
}

/** A sign-in that waits for the identity provider's response (five minutes). */
export const ssoSessions = table("sso_sessions", {
  id: id(),
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: text().unique(),
  /** The `ID` of the AuthnRequest, which the response must name. */
  request_id: text(),
  relay_url: text(),
  created_at: time().index(),
  /** Set by the first callback, whether it succeeds or not. */
  used: bool().default(false),
});

/** Accepted assertions, kept until they expire, so that none is accepted twice. */
export const ssoAssertions = table("sso_assertions", {
  id: id(),
  assertion_id: text().unique(),
  expires_at: time().index(),
});
