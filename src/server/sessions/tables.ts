import { id, json, ref, table, text, time } from "../store/table.ts";

export const sessions = table("sessions", {
  id: id(),
  user_id: ref("users"),
  /** SHA-256 of the token, hex. */
  token_hash: text().unique(),
  created_at: time(),
  accessed_at: time().index(),
  /** Sessions come of a sign-in and end when unused; tokens were made on purpose, with a name and an end of their own. */
  kind: text<"session" | "token">().default("session"),
  name: text().default(""),
  expires_at: time().nullable().index(),
  /** A token may be limited to these: `GET /hosts`, as in the description of the API. */
  endpoints: json<readonly string[]>().nullable(),
  /** Where it was opened from. */
  address: text().default(""),
  user_agent: text().default(""),
});
