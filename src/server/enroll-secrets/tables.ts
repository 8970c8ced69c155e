import { id, ref, table, text, time } from "../store/table.ts";

export const enrollSecrets = table("enroll_secrets", {
  id: id(),
  created_at: time(),
  /** Null: global. */
  team_id: ref("teams").nullable().onDelete("cascade"),
  secret: text().secret(),
  /** SHA-256 of the secret, hex: how an enrolling agent's secret is found. */
  secret_hash: text().unique(),
});
