// Apps of the vendor's store that teams offer to their hosts.
import { fallbacksOf, fieldNames, pick } from "../../api/plain-fields.ts";
import { storeAppFields } from "../../api/software/store-app.ts";
import { changed, type Fields, fieldsOf } from "../export/fields.ts";
import { FileNames } from "../export/names.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { PlacedItem } from "../files/collect.ts";
import { isOffered } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { StoreAppFile } from "../schema/software.ts";
import type { Kind } from "./kind.ts";
import { write } from "./package.ts";
import { inSetupOrder } from "./setup/order.ts";

const KIND = "store_app";

const plainNames = fieldNames(storeAppFields);

/** An app on one platform has its own name, because a team may offer it otherwise on another. */
export type StoreApp = Omit<StoreAppFile, "configuration" | "icon"> & {
  readonly name: string;
  readonly configuration?: string;
  readonly icon?: string;
};

const desired = (apps: readonly PlacedItem<StoreApp>[]): Thing[] =>
  apps.map(({ value: app, owner }) => ({
    kind: KIND,
    owner,
    name: app.name,
    value: {
      ...pick(app, plainNames),
      categories: app.categories,
      configuration: app.configuration ?? "",
      icon: app.icon ?? "",
      setup_experience: app.setup_experience,
      auto_update_window_start: app.auto_update_window_start ?? null,
      auto_update_window_end: app.auto_update_window_end ?? null,
      labels_include_all: app.labels_include_all,
      labels_include_any: app.labels_include_any,
      labels_exclude_any: app.labels_exclude_any,
    },
  }));

const noLabels = { labels_include_all: [], labels_include_any: [], labels_exclude_any: [] };
const defaults = {
  ...fallbacksOf(storeAppFields),
  categories: [],
  setup_experience: false,
  auto_update_window_start: null,
  auto_update_window_end: null,
  ...noLabels,
};

function exported(scope: ExportScope): ExportedSections {
  const names = new FileNames();
  const apps = inSetupOrder(scope, KIND).map(({ name, value }): Fields => {
    const { configuration, icon, ...fields } = fieldsOf(value);
    const [app_store_id = "", platform] = name.split("/");
    const file = names.of(name);
    const extension = platform === "android" ? "json" : "plist";
    return {
      app_store_id,
      ...(platform === undefined ? {} : { platform }),
      ...changed(fields, defaults),
      ...(configuration
        ? { configuration: { path: write(scope, `${file}.${extension}`, String(configuration)) } }
        : {}),
      ...(icon ? { icon: { path: write(scope, `${file}.png`, String(icon)) } } : {}),
    };
  });
  return apps.length === 0 ? {} : { software: { app_store_apps: apps } };
}

const words = (text: unknown): string => (typeof text === "string" ? text : "");

export const storeApp: Kind<StoreApp> = {
  noun: "store app",
  exception: "software",
  items: {
    list: "app_store_apps",
    software: [
      {
        key: "app_store_apps",
        schema: StoreAppFile,
        nameOf: ({ app_store_id, platform }) => [words(app_store_id), words(platform)].filter(Boolean).join("/"),
        of: () => ({}),
      },
    ],
    schema: StoreAppFile as unknown as NonNullable<Kind<StoreApp>["items"]>["schema"],
    labelFields: Object.keys(noLabels),
    defaults,
    desired,
  },
  exported: (scope) => (scope.file === "global" ? {} : exported(scope)),
  typesOf: () => ["added_app_store_app", "edited_app_store_app", "deleted_app_store_app"],
  isAbout: (details, _, { owner, name }) => isOffered(details, owner) && details.app_store_id === name.split("/")[0],
};
