import { id, idOf, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly managedAgents: typeof managedAgents;
    readonly usedSignatures: typeof usedSignatures;
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

/** Signed requests of endpoints that accept each request once. */
export const usedSignatures = table("used_signatures", {
  id: id(),
  /** SHA-256 of what is signed, in hex. */
  digest: text().unique(),
  /** From then on, the request is too old anyway. */
  expires_at: time().index(),
});
