import { idOf, table, text, time } from "../store/table.ts";

/** The managed agent of a host (agent protocol, section 11). */
export const managedAgents = table("managed_agents", {
  id: idOf("hosts"),
  /** SHA-256 of the agent key, hexadecimal. */
  agent_key_hash: text().unique(),
  enrolled_at: time(),
  seen_at: time().nullable(),
});

/**
 * The token of a host's device page: created by its agent and replaced hourly. A new one invalidates the previous one.
 */
export const deviceTokens = table("device_tokens", {
  id: idOf("hosts"),
  token_hash: text().unique(),
  updated_at: time(),
});
