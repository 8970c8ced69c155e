import { id, ref, table, text, time } from "../store/table.ts";

export const sessions = table("sessions", {
  id: id(),
  user_id: ref("users"),
  /** SHA-256 of the token, hex. */
  token_hash: text().unique(),
  created_at: time(),
  accessed_at: time().index(),
});
