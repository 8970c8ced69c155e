import { id, json, ref, table, text, time } from "../store/table.ts";

/** What a mailed link (or a browser) proves, once: kept hashed, and gone with its use or its time. */
export const oneTimeTokens = table("one_time_tokens", {
  id: id(),
  kind: text<"password_reset" | "email_change" | "mfa" | "cli_login">().index(),
  user_id: ref("users"),
  /** SHA-256 of the token, hex. */
  token_hash: text().unique(),
  created_at: time(),
  expires_at: time().index(),
  /** What the kind needs, for example the new address. */
  data: json<Record<string, string>>().nullable(),
});
