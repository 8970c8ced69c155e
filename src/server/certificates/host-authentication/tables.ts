import { id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly usedSignatures: typeof usedSignatures;
  }
}

/** Signed requests of endpoints that accept each request once. */
export const usedSignatures = table("used_signatures", {
  id: id(),
  /** SHA-256 of what is signed, in hex. */
  digest: text().unique(),
  /** When the request is too old anyway. */
  expires_at: time().index(),
});
