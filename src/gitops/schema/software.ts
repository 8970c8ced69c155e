// Software that teams offer, as it stands in files.

import { z } from "zod";
import { APP_NUMBER, APP_PACKAGE, BatchApp, isAppId } from "../../api/delivery/store-apps.ts";
import { setupPlatforms } from "../../api/setup-platforms.ts";
import { packageFields } from "../../api/software/packages.ts";
import { storeAppFields, storePlatforms } from "../../api/software/store-app.ts";
import { flag, labelNames, name, plainFields, platforms, text } from "./fields.ts";

const LABELS_MAX = 1000;
const labelLists = {
  labels_include_all: labelNames(LABELS_MAX),
  labels_include_any: labelNames(LABELS_MAX),
  labels_exclude_any: labelNames(LABELS_MAX),
};
const shown = {
  display_name: text(255).transform((input) => input.trim()),
  setup_experience: flag.meta({ description: "hosts install it during their setup" }),
};
/** The files themselves are read by `readSoftware`. */
const file = (description: string) =>
  z
    .strictObject({ path: z.string().min(1).meta({ description: "relative to this file" }) })
    .nullish()
    .meta({ description });
const icon = file("a square PNG image with 120 to 1024 pixels on each side, which users of hosts see");
const scripts = {
  pre_install_query: file("a query in an .sql file, or in a .yml file under the key query"),
  install_script: file("instead of the default of the package"),
  uninstall_script: file("instead of the default of the package"),
  post_install_script: file("runs after the installation"),
};

type Lists = { readonly [K in keyof typeof labelLists]: readonly string[] };
type Issues = z.core.$RefinementCtx;
const wrong = (context: Issues, key: string, message: string) =>
  context.addIssue({ code: "custom", path: [key], message });

function onlyOneList(lists: Lists, context: Issues): void {
  const [, second] = (Object.keys(labelLists) as (keyof Lists)[]).filter((key) => lists[key].length > 0);
  if (second !== undefined) wrong(context, second, "give only one list of labels");
}

const categories = z.array(name).max(100);
/** Characters of names in the API of the configuration. */
const URL_MAX = 1024;
const NEEDS_SCRIPTS = /\.(exe|tar\.gz|tgz)$/i;

/** The text of a URL before its query. */
const pathOf = (url: string): string => url.replace(/[?#].*$/, "");

export const PackageFile = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .nullish()
      .meta({ description: "a .yml file with one or several packages, or a script that is a package" }),
    url: z
      .string()
      .transform((input) => input.trim())
      .pipe(
        z
          .string()
          .max(URL_MAX)
          .regex(/^https?:\/\//i, { error: "must be an http or https URL" }),
      )
      .nullish()
      .meta({ description: "where the server downloads the file" }),
    hash_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest of 64 hexadecimal digits in lower case" })
      .nullish()
      .meta({ description: "of the file; without a url, of a package that the server has" }),
    always_download: flag.meta({
      description: "each apply downloads the file, without asking its server whether it has changed",
    }),
    ...scripts,
    icon,
    ...plainFields(packageFields),
    ...shown,
    categories: categories.nullish().transform((input) => input ?? []),
    ...labelLists,
    setup_experience_platform: platforms(setupPlatforms)
      .transform((list) => list.split(",").sort().join(","))
      .meta({ description: "whose setup installs it; default: its own platform" }),
    configuration: file("a property list with settings of an app for iPhones and iPads (.ipa)"),
  })
  .superRefine((software, context) => {
    onlyOneList(software, context);
    if (software.setup_experience_platform !== "" && !software.setup_experience)
      wrong(context, "setup_experience_platform", "needs setup_experience to be true");
    if (software.path && (software.url || software.hash_sha256))
      wrong(context, software.url ? "url" : "hash_sha256", "cannot be used with path: the file names it");
    if (software.always_download && !software.url) wrong(context, "always_download", "needs a url");
    if (software.always_download && software.hash_sha256)
      wrong(context, "always_download", "cannot be used with hash_sha256, which determines the file");
    if (software.path && software.install_script)
      wrong(context, "install_script", "a script that is a package is its own install script");
    if (!software.path && !software.url && !software.hash_sha256)
      wrong(context, "url", "is required, or hash_sha256 or path");
    if (software.url && NEEDS_SCRIPTS.test(pathOf(software.url)))
      for (const key of ["install_script", "uninstall_script"] as const)
        if (!software[key]) wrong(context, key, "is required for .exe, .tar.gz and .tgz packages");
  });
export type PackageFile = z.output<typeof PackageFile>;

export const MaintainedAppFile = z
  .strictObject({
    slug: z
      .string()
      .regex(/^[^/\s]+\/[^/\s]+$/, { error: "must be the slug of a maintained app, such as firefox/darwin" })
      .max(255),
    version: text(255)
      .transform((input) => input.trim())
      .meta({ description: "one that the catalogue has, or ^147 for the newest 147; default: always the newest" }),
    ...scripts,
    icon,
    ...plainFields(packageFields),
    ...shown,
    categories: categories
      .nullish()
      .transform((input) => input ?? null)
      .meta({ description: "default: those of the catalogue; an empty list: none" }),
    ...labelLists,
  })
  .superRefine(onlyOneList);
export type MaintainedAppFile = z.output<typeof MaintainedAppFile>;

const time = BatchApp.shape.auto_update_window_start.unwrap();

export const StoreAppFile = z
  .strictObject({
    app_store_id: z.string().refine((id) => APP_NUMBER.test(id) || APP_PACKAGE.test(id), {
      error: "must be the number of an app in the store, in quotes, or the name of a package of Android",
    }),
    platform: z.enum(storePlatforms).nullish().meta({ description: "default: all platforms of the app" }),
    icon,
    ...plainFields(storeAppFields),
    ...shown,
    categories: categories.nullish().transform((input) => input ?? []),
    ...labelLists,
    configuration: file("settings of the app: a property list for iPhones and iPads, a JSON file for Android"),
    auto_update_window_start: time.nullish().meta({ description: "in the host's local time, as HH:MM" }),
    auto_update_window_end: time.nullish().meta({ description: "may be on the next day" }),
  })
  .superRefine((app, context) => {
    onlyOneList(app, context);
    if (!isAppId(app.app_store_id, app.platform === "android"))
      wrong(
        context,
        "app_store_id",
        app.platform === "android"
          ? "must be the name of a package, such as com.example.app"
          : "must be the number of an app in the store; the names of packages need the platform android",
      );
    for (const key of ["auto_update_window_start", "auto_update_window_end"] as const)
      if (app.auto_update_enabled && !app[key]) wrong(context, key, "is required with auto_update_enabled");
  });
export type StoreAppFile = z.output<typeof StoreAppFile>;

/** The section. The lists are checked item by item. */
export const Software = z.strictObject({
  packages: z.array(PackageFile).max(500).nullish(),
  app_store_apps: z.array(StoreAppFile).max(1000).nullish(),
  svc_maintained_apps: z.array(MaintainedAppFile).max(500).nullish(),
});
