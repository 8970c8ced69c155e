import { bool, id, int, json, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly vppTokens: typeof vppTokens;
    readonly vppTokenTeams: typeof vppTokenTeams;
    readonly vppAssets: typeof vppAssets;
    readonly storeListings: typeof storeListings;
  }
}

/** Access to the licences that an organization has bought for one location. */
export const vppTokens = table("vpp_tokens", {
  id: id(),
  created_at: time(),
  org_name: text(),
  location: text(),
  country_code: text().default(""),
  /** The service's id of the location's licences: a renewed token has the same. */
  library_id: text().unique(),
  /** As the service takes it: the content of the token's file. */
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

/** Whose apps the token licenses: a team's id, or one of these. */
export const EVERY_TEAM = -1;
export const NO_TEAM = 0;

/** Each team has at most one token. */
export const vppTokenTeams = table("vpp_token_teams", {
  id: id(),
  token_id: ref("vpp_tokens"),
  scope: int().unique(),
  team_id: ref("teams").nullable().onDelete("cascade"),
});

export type StorePlatform = "darwin" | "ios" | "ipados";

/** What the organization has licences of. */
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
