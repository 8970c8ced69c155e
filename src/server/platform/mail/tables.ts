import { bool, id, json, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly oneTimeTokens: typeof oneTimeTokens;
    readonly mailOptOuts: typeof mailOptOuts;
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

/** Who has unsubscribed from the mails about failing policies of a team. */
export const mailOptOuts = table(
  "mail_opt_outs",
  {
    id: id(),
    /** False: from mails about global policies. */
    is_of_team: bool(),
    /** Null with `is_of_team`: hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    /** In lower case. */
    email: text(),
    created_at: time(),
  },
  { unique: [["is_of_team", "team_id", "email"]] },
);
