import { idOf, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly managedAgents: typeof managedAgents;
  }
}

/** The managed agent of a host (agent protocol, section 11). */
export const managedAgents = table("managed_agents", {
  id: idOf("hosts"),
  /** SHA-256 of the agent key, hexadecimal. */
  agent_key_hash: text().unique(),
  enrolled_at: time(),
  seen_at: time().nullable(),
});
