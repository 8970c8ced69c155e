import { id, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly androidEnterprises: typeof androidEnterprises;
    readonly androidSignUps: typeof androidSignUps;
  }
}

/** The organization at the vendor: one row while device management of Android is turned on. */
export const androidEnterprises = table("android_enterprises", {
  id: id(),
  created_at: time(),
  /** Name in the API: `enterprises/` and its id. */
  name: text().unique(),
});

/** Sign-ups that admins have started. */
export const androidSignUps = table("android_sign_ups", {
  id: id(),
  created_at: time(),
  user_id: ref("users"),
  /** Hash of the secret in the address to which the vendor's page returns. */
  token_hash: text().unique(),
  /** The vendor's name of the sign-up. */
  name: text(),
  /** `ending`: the vendor's page has returned, and the organization is being created. */
  state: text<"open" | "ending" | "done" | "failed">().default("open"),
  /** Why it failed. */
  failure: text().default(""),
});
