// Store apps: apps that the organization has licenses for, and that teams offer to their hosts.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, nameText, QueryFlag, QueryTeam, unchanged } from "../fields.ts";
import { schemasOf } from "../plain-fields.ts";
import { LicensedApp, newStoreAppFields, StoreApp, StorePlatform, storeAppFields } from "../software/store-app.ts";

const labelNames = z.array(z.string().min(1).max(255)).max(1000).optional();
const labelLists = {
  labels_include_any: labelNames.meta({ description: "names; only one of the three lists may be given" }),
  labels_include_all: labelNames,
  labels_exclude_any: labelNames,
};

/** The id of an app: its number in the store of Apple, or the name of its package on Android. */
export const APP_NUMBER = /^\d{1,20}$/;
export const APP_PACKAGE = /^(?=.{3,255}$)[A-Za-z]\w*(\.[A-Za-z0-9_]+)+$/;
export const isAppId = (id: string, isAndroid: boolean): boolean => (isAndroid ? APP_PACKAGE : APP_NUMBER).test(id);

const appId = z
  .string()
  .refine((id) => APP_NUMBER.test(id) || APP_PACKAGE.test(id), {
    error: "must be the number of an app in the store, or the name of a package of Android",
  })
  .meta({ description: "the number of an app; with the platform android, the name of its package" });
const TeamId = z.int().min(0).meta({ description: "0: hosts without a team" });
const categories = z.array(nameText().min(1)).max(100);
const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: "must be a time such as 02:30" });
const settings = {
  ...z.object(schemasOf(newStoreAppFields)).partial().shape,
  categories: categories.optional(),
  configuration: z.string().max(1_000_000).optional().meta({
    description: "settings of the app: a property list for iPhones and iPads, a JSON object for Android; empty: none",
  }),
  ...labelLists,
};
const edits = {
  ...settings,
  ...z.object(schemasOf(storeAppFields)).partial().shape,
  display_name: nameText().optional(),
  auto_update_window_start: time.optional().meta({ description: "in the host's local time, as HH:MM" }),
  auto_update_window_end: time.optional().meta({ description: "may be on the next day" }),
};

export const BatchApp = z.strictObject({
  app_store_id: appId,
  platform: StorePlatform.optional().meta({ description: "absent: all platforms of the app" }),
  install_during_setup: z.boolean().optional(),
  ...edits,
});
export type BatchApp = z.infer<typeof BatchApp>;

const write = { action: "packages:write", scope: "team" } as const;

export const storeAppsApi = {
  list: endpoint({
    method: "GET",
    path: "/software/app_store_apps",
    summary: "List the licensed store apps that a team does not offer yet.",
    tier: "premium",
    access: write,
    query: z.object({ team_id: QueryTeam }),
    response: z.object({ app_store_apps: z.array(LicensedApp) }),
  }),
  add: endpoint({
    method: "POST",
    path: "/software/app_store_apps",
    summary: "Offer a store app to the hosts of a team.",
    tier: "premium",
    access: write,
    body: z.object({
      app_store_id: appId,
      team_id: TeamId,
      platform: StorePlatform.default("darwin"),
      ensure: z.literal("present").optional().meta({
        description: "create a policy that installs the app on Macs without it",
      }),
      ...settings,
    }),
    response: z.object({ software_title_id: Id, name: z.string() }),
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/software/titles/:id/app_store_app",
    summary: "Change how a team offers a store app.",
    tier: "premium",
    access: write,
    params: z.object({ id: IdParam }),
    body: z.object({
      team_id: TeamId,
      ...edits,
      app_store_id: unchanged(z.string()),
      platform: unchanged(StorePlatform),
    }),
    response: z.object({ app_store_app: StoreApp }),
  }),
  batch: endpoint({
    method: "POST",
    path: "/software/app_store_apps/batch",
    summary: "Replace the store apps that a team offers.",
    tier: "premium",
    access: write,
    query: z.object({
      team_name: z.string().max(255).optional().meta({ description: "absent: hosts without a team" }),
      dry_run: QueryFlag.optional(),
    }),
    body: z.strictObject({ app_store_apps: z.array(BatchApp).max(1000) }),
    response: z.object({
      app_store_apps: z.array(
        z.object({
          team_id: z.int().nullable(),
          title_id: Id,
          app_store_id: z.string(),
          platform: StorePlatform,
          icon_hash_sha256: z.string(),
          icon_filename: z.string(),
        }),
      ),
    }),
  }),
};
