import { id, json, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly oneTimeTokens: typeof oneTimeTokens;
  }
}

/** Single-use tokens of mailed links, browser sign-ins and downloads. Stored as hashes, deleted after use or expiry. */
export const oneTimeTokens = table("one_time_tokens", {
  id: id(),
  kind: text<"password_reset" | "email_change" | "mfa" | "cli_login" | "package_download">().index(),
  user_id: ref("users"),
  /** SHA-256 of the token, hexadecimal. */
  token_hash: text().unique(),
  created_at: time(),
  expires_at: time().index(),
  /** Data of the kind, such as the new email address. */
  data: json<Record<string, string>>().nullable(),
});
