import type { CaType } from "../../../api/certificates/ca.ts";
import { id, json, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly certificateAuthorities: typeof certificateAuthorities;
  }
}
export const certificateAuthorities = table("certificate_authorities", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  name: text().unique(),
  type: text<CaType>().index(),
  /** The type's fields except the secret. */
  settings: json<Record<string, unknown>>(),
  /** The value of the type's only secret field. */
  secret: text().secret(),
});
