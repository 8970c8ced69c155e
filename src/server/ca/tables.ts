import { id, json, table, text, time } from "../store/table.ts";

export type CaType =
  | "hosted_ca_a"
  | "directory_scep_proxy"
  | "custom_scep_proxy"
  | "custom_est_proxy"
  | "hosted_est_ca"
  | "hosted_scep_ca";

export const certificateAuthorities = table("certificate_authorities", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  name: text().unique(),
  type: text<CaType>().index(),
  /** The type's fields that are no secrets. */
  settings: json<Record<string, unknown>>(),
  /** The value of the type's one secret field. */
  secret: text().secret(),
});
