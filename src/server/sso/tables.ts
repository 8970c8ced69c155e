import { bool, id, table, text, time } from "../store/table.ts";

/** A sign-in that began here and waits for the identity provider's answer (five minutes). */
export const ssoSessions = table("sso_sessions", {
  id: id(),
  /** SHA-256 of the cookie's value, hex. */
  cookie_hash: text().unique(),
  /** The `ID` of the AuthnRequest, which the answer names. */
  request_id: text(),
  relay_url: text(),
  created_at: time().index(),
  /** Set by the first callback, good or bad. */
  used: bool().default(false),
});

/** Assertions that were taken, until they would be refused for their age: none signs in twice. */
export const ssoAssertions = table("sso_assertions", {
  id: id(),
  assertion_id: text().unique(),
  expires_at: time().index(),
});
