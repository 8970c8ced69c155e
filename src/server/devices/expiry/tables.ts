import { id, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly expiryNotices: typeof expiryNotices;
  }
}

/** Certificates and tokens whose end was announced, so that each is announced once. */
export const expiryNotices = table("expiry_notices", {
  id: id(),
  /** Name of the certificate or token, from `Expiring`. */
  name: text().unique(),
  /** The end that was announced: a renewed certificate has another one. */
  not_valid_after: time(),
});
