import { id, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly sessions: typeof sessions;
  }
}

export const sessions = table("sessions", {
  id: id(),
  user_id: ref("users"),
  /** SHA-256 of the token, hex. */
  token_hash: text().unique(),
  created_at: time(),
  accessed_at: time().index(),
  /**
   * Sessions are opened by signing in and end when they are unused. Tokens are created explicitly, with a name and an
   * expiry time.
   */
  kind: text<"session" | "token">().default("session"),
  name: text().default(""),
  expires_at: time().nullable().index(),
  /** The endpoints to which a token is limited: `GET /hosts`, as in the API's description. */
  endpoints: json<readonly string[]>().nullable(),
  /** The address and program that opened the session. */
  address: text().default(""),
  user_agent: text().default(""),
});
