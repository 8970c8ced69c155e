import { storeAppFields, type storePlatforms } from "../../../api/software/store-app.ts";
import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { plainColumns } from "../../platform/store/plain-columns.ts";
import { bool, id, idOf, int, json, type RowOf, ref, table, text, time } from "../../platform/store/table.ts";
import type { SetupPositions } from "../../software/software/setup-order.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly vppTokens: typeof vppTokens;
    readonly vppTokenTeams: typeof vppTokenTeams;
    readonly vppAssets: typeof vppAssets;
    readonly storeListings: typeof storeListings;
    readonly storeApps: typeof storeApps;
    readonly storeAppLabels: typeof storeAppLabels;
    readonly storeAppLicenses: typeof storeAppLicenses;
    readonly storeAppInstalls: typeof storeAppInstalls;
  }
}

/** Access to the licenses that an organization has bought for one location. */
export const vppTokens = table("vpp_tokens", {
  id: id(),
  created_at: time(),
  org_name: text(),
  location: text(),
  country_code: text().default(""),
  /** The service's id of the location's licenses: a renewed token has the same. */
  library_id: text().unique(),
  /** The content of the token's file, which the service takes. */
  token: text().secret(),
  renew_date: time().index(),
  /** The organization has to accept new terms. */
  terms_expired: bool().default(false),
  /** The service refuses the token: it has expired or was revoked. */
  token_invalid: bool().default(false),
  synced_at: time().nullable(),
  /** Why the last synchronization failed; empty: it did not. */
  sync_error: text().default(""),
});

/** The team whose apps the token licenses: an id, or one of these. */
export const EVERY_TEAM = -1;
export const NO_TEAM = 0;

/** Each team has at most one token. */
export const vppTokenTeams = table("vpp_token_teams", {
  id: id(),
  token_id: ref("vpp_tokens"),
  scope: int().unique(),
  team_id: ref("teams").nullable().onDelete("cascade"),
});

export type StorePlatform = (typeof storePlatforms)[number];

/** What the organization has licenses for. */
export const vppAssets = table(
  "vpp_assets",
  {
    id: id(),
    token_id: ref("vpp_tokens"),
    /** The app's id in the store. */
    adam_id: text(),
    /** The quality of what was bought, which the service wants back with each assignment. */
    pricing_param: text(),
    platforms: json<readonly StorePlatform[]>(),
    is_device_assignable: bool(),
    total_count: int(),
    available_count: int(),
  },
  { unique: [["token_id", "adam_id", "pricing_param"]] },
);

/** What the store says of an app. */
export const storeListings = table(
  "store_listings",
  {
    id: id(),
    adam_id: text(),
    platform: text<StorePlatform>(),
    name: text(),
    bundle_identifier: text(),
    icon_url: text().nullable(),
    version: text(),
    read_at: time(),
  },
  { unique: [["adam_id", "platform"]] },
);

/** A store app that a team offers to its hosts of one platform. */
export const storeApps = table(
  "store_apps",
  {
    id: id(),
    created_at: time(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    title_id: ref("software_titles").onDelete("restrict"),
    /** The token whose licenses hosts get. Null: apps for Android need none. */
    token_id: ref("vpp_tokens").nullable().onDelete("cascade"),
    /** Id in the store. For an app for Android, the name of its package. */
    adam_id: text(),
    platform: text<StorePlatform>(),
    /** Whoever added it named no platform: the team offers it on all that are licensed. */
    every_platform: bool().default(false),
    ...plainColumns(storeAppFields),
    categories: json<readonly string[]>(),
    /** The app's settings: a property list, or JSON for Android; empty: none. */
    configuration: text().default(""),
    install_during_setup: bool().default(false),
    /** Positions in the setup of platforms; empty: only that of the app's own platform, after all others. */
    setup_positions: json<SetupPositions>().default({}),
    /** Local time of the host, as HH:MM. */
    auto_update_window_start: text().nullable(),
    auto_update_window_end: text().nullable(),
  },
  {
    unique: [
      ["team_id", "title_id"],
      ["team_id", "adam_id", "platform"],
    ],
  },
);

/** The labels that limit to which hosts an app is offered. */
export const storeAppLabels = table(
  "store_app_labels",
  {
    id: id(),
    store_app_id: ref("store_apps"),
    label_id: ref("labels").onDelete("restrict"),
    name: text(),
    rule: text<LabelRule>(),
  },
  { unique: [["store_app_id", "label_id"]] },
);

/** A license that this server has assigned to a device. */
export const storeAppLicenses = table(
  "store_app_licenses",
  {
    id: id(),
    token_id: ref("vpp_tokens"),
    adam_id: text(),
    pricing_param: text(),
    serial: text(),
    /** Null: the host was deleted. */
    host_id: ref("hosts").nullable(),
    /** The device needs it no more: the service is still to be told. */
    is_released: bool().default(false).index(),
    /** Not before this time. */
    retry_at: time(),
  },
  { unique: [["token_id", "adam_id", "serial"]] },
);

/**
 * How far the installation of an app on a host is. `license`: a license is to be assigned. `event`: the service assigns
 * it. `command`: the device has the command. `verify`: the device installs it.
 */
type InstallStep = "license" | "event" | "command" | "verify";

/** An installation that was asked for; its id is that of its operation. */
export const storeAppInstalls = table("store_app_installs", {
  id: idOf("operations"),
  created_at: time(),
  host_id: ref("hosts"),
  /** Null: the team no longer offers it. */
  store_app_id: ref("store_apps").nullable(),
  title_id: ref("software_titles").onDelete("restrict"),
  /** Empty: it is an in-house app, a package of the team. */
  adam_id: text(),
  /** The package of an in-house app, which may be deleted since. Null: it is a store app. */
  installer_id: int().nullable(),
  /** Hash of the token with which the device fetches an in-house app. Empty: it has none. */
  token_hash: text().default(""),
  token_until: time().nullable(),
  /** The id of the device's command, once there is one, and of the operation. */
  command_uuid: text().unique(),
  step: text<InstallStep>().default("license"),
  status: text<"pending" | "installed" | "failed">().default("pending"),
  /** Why it has failed. */
  detail: text().default(""),
  /** The service's id of the assignment. */
  event_id: text().default(""),
  /** When the next step is due. Null: it waits for the device, or has ended. */
  due_at: time().nullable().index(),
  /** The installation has failed if the device does not list the app by this time. */
  verify_until: time().nullable(),
  self_service: bool().default(false),
  policy_id: ref("policies").nullable(),
  ended_at: time().nullable(),
});

export type VppTokenRow = RowOf<typeof vppTokens>;
export type AssetRow = RowOf<typeof vppAssets>;
export type ListingRow = RowOf<typeof storeListings>;
export type StoreAppRow = RowOf<typeof storeApps>;
export type LicenseRow = RowOf<typeof storeAppLicenses>;
export type InstallRow = RowOf<typeof storeAppInstalls>;
