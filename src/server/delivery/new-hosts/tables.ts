import { id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly agentSigningKeys: typeof agentSigningKeys;
  }
}

/**
 * The key that signs updates of the agent: one row, created when it is first needed, and never changed, because agents
 * remember it from their first enrollment.
 */
export const agentSigningKeys = table("agent_signing_keys", {
  id: id(),
  created_at: time(),
  /** Ed25519, DER (PKCS #8) in base64. */
  key: text().secret(),
});
