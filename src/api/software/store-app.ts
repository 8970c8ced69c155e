// Apps of a store, as titles of software show them.
import { z } from "zod";
import { Timestamp } from "../fields.ts";
import { ScopeLabel } from "../hosts/label-scope.ts";
import { plainFlag, plainText, schemasOf } from "../plain-fields.ts";
import { InstallPolicy } from "./packages.ts";

export const storePlatforms = ["darwin", "ios", "ipados", "android"] as const;
export const StorePlatform = z.enum(storePlatforms);

/** Plain fields that can be set as soon as an app is added. */
export const newStoreAppFields = {
  self_service: plainFlag({
    summary: "Users of hosts may install it themselves.",
    description: "users of hosts may install it themselves",
  }),
};
export const storeAppFields = {
  ...newStoreAppFields,
  display_name: plainText(255, {
    summary: "Name that users see; empty: that of the store.",
    description: "name that users see; empty: that of the store",
  }),
  auto_update_enabled: plainFlag({
    summary: "Update the app on iPhones and iPads, between --from and --until.",
    description: "iPhones and iPads",
  }),
};

const ShownLabels = z.array(ScopeLabel).optional();
/** An app of the store that can be added. */
export const LicensedApp = z.object({
  app_store_id: z.string(),
  platform: StorePlatform,
  name: z.string(),
  display_name: z.string().meta({ description: "as name" }),
  icon_url: z.string().nullable(),
  latest_version: z.string(),
});
export type LicensedApp = z.infer<typeof LicensedApp>;

export const StoreApp = LicensedApp.extend({
  ...schemasOf(storeAppFields),
  categories: z.array(z.string()),
  created_at: Timestamp,
  status: z.object({ installed: z.int(), pending: z.int(), failed: z.int() }).meta({ description: "numbers of hosts" }),
  install_during_setup: z.boolean(),
  automatic_install_policies: z.array(InstallPolicy).nullable(),
  configuration: z.string().optional(),
  auto_update_window_start: z.string().nullable(),
  auto_update_window_end: z.string().nullable(),
  labels_include_any: ShownLabels,
  labels_include_all: ShownLabels,
  labels_exclude_any: ShownLabels,
});
export type StoreApp = z.infer<typeof StoreApp>;
