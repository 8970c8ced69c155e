import { id, idOf, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly conditionalAccessKeys: typeof conditionalAccessKeys;
    readonly conditionalAccessRequests: typeof conditionalAccessRequests;
    readonly conditionalAccessBypasses: typeof conditionalAccessBypasses;
  }
}

/** The key of this identity provider: one row, created when it is first needed. */
export const conditionalAccessKeys = table("conditional_access_keys", {
  id: id(),
  name: text().unique(),
  created_at: time(),
  /** DER in base64. */
  certificate: text(),
  /** PKCS #8, PEM. */
  key: text().secret(),
});

/** Sign-in requests that were answered. Each is answered once, by whichever server. */
export const conditionalAccessRequests = table("conditional_access_requests", {
  id: id(),
  /** SHA-256 of the request's ID in hex. */
  digest: text().unique(),
  expires_at: time().index(),
});

/** Hosts whose next sign-in passes although they fail policies. */
export const conditionalAccessBypasses = table("conditional_access_bypasses", {
  id: idOf("hosts"),
  expires_at: time().index(),
});
