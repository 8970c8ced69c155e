import { id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly enrollSecrets: typeof enrollSecrets;
    readonly enrollTokens: typeof enrollTokens;
  }
}

export const enrollSecrets = table("enroll_secrets", {
  id: id(),
  created_at: time(),
  /** Null: global. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  secret: text().secret(),
  /**
   * SHA-256 of the secret (hexadecimal), by which the secrets of enrolling agents are looked up. Null: another team had
   * the same secret first, and hosts enroll there. Not visible to callers who may not read that team's secrets.
   */
  secret_hash: text().nullable().unique(),
  /** Null: it is valid until it is removed. */
  expires_at: time().nullable(),
});

/** Tokens that enroll hosts like a secret, until they expire. They end with the user who made them. */
export const enrollTokens = table("enroll_tokens", {
  id: id(),
  created_at: time(),
  /** Null: hosts without a team. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  user_id: ref("users").onDelete("cascade"),
  token_hash: text().unique(),
  expires_at: time().index(),
});
