import { idOf, table, text, time } from "../store/table.ts";

/** The managed agent of a host (agent protocol, section 11). */
export const managedAgents = table("managed_agents", {
  id: idOf("hosts"),
  /** SHA-256 of the agent key, hex. */
  agent_key_hash: text().unique(),
  enrolled_at: time(),
  seen_at: time().nullable(),
});

/** The token of a host's own page: made by its agent, replaced hourly. A new one ends the one before it at once. */
export const deviceTokens = table("device_tokens", {
  id: idOf("hosts"),
  token_hash: text().unique(),
  updated_at: time(),
});
