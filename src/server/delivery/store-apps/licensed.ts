// The apps that a team may offer: those with licenses, or of the store for Android, with their listings.
import type { BatchApp } from "../../../api/delivery/store-apps.ts";
import type { LicensedApp } from "../../../api/software/store-app.ts";
import { teamFor } from "../../devices/profiles/access.ts";
import type { TeamName } from "../../devices/profiles/platform.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, upstreamFailed } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { androidListing } from "./android.ts";
import { readListings } from "./library.ts";
import { LookupError } from "./store-lookup.ts";
import type { AssetRow, ListingRow, StoreAppRow, StorePlatform, VppTokenRow } from "./tables.ts";
import { tokenOfTeam } from "./tokens.ts";

export async function requireToken(store: ServerTx, team: TeamName): Promise<VppTokenRow> {
  const token = await tokenOfTeam(store, team.team_id);
  if (token) return token;
  const whose = team.team_name === null ? "hosts without a team" : `the team ${team.team_name}`;
  throw invalid("team_id", `no token of the license program is for ${whose}: see svc mdm vpp teams`);
}

/** Licensed apps that the team does not offer yet. Apps that the store does not know are left out. */
export async function listLicensed(ctx: Context, teamId: number): Promise<{ app_store_apps: LicensedApp[] }> {
  const team = await teamFor(ctx, "packages:write", teamId);
  const { store } = ctx;
  const token = await requireToken(store, team);
  const assets = await store.vppAssets.list({ where: eq("token_id", token.id) });
  const platforms = new Map(assets.map((asset) => [asset.adam_id, asset.platforms]));
  const offered = await store.storeApps.list({ where: eq("team_id", team.team_id) });
  const isOffered = new Set(offered.map(({ adam_id, platform }) => `${adam_id} ${platform}`));
  const listings = await store.storeListings.list({ where: oneOf("adam_id", [...platforms.keys()]) });
  return {
    app_store_apps: listings
      .filter(({ adam_id, platform }) => platforms.get(adam_id)!.includes(platform))
      .filter(({ adam_id, platform }) => !isOffered.has(`${adam_id} ${platform}`))
      .sort((a, b) => compareText(a.name, b.name) || compareText(a.platform, b.platform))
      .map(licensedOnWire),
  };
}

const licensedOnWire = (listing: ListingRow): LicensedApp => ({
  app_store_id: listing.adam_id,
  platform: listing.platform,
  name: listing.name,
  display_name: listing.name,
  icon_url: listing.icon_url,
  latest_version: listing.version,
});

/** The licenses of an app; 422 if the organization has none for that platform. */
async function requireAsset(
  store: ServerTx,
  token: VppTokenRow,
  adamId: string,
  platform?: StorePlatform,
): Promise<AssetRow> {
  const assets = await store.vppAssets.list({ where: and(eq("token_id", token.id), eq("adam_id", adamId)) });
  const asset = assets.find(({ platforms }) => platform === undefined || platforms.includes(platform));
  if (asset) return asset;
  const where = platform === undefined ? "" : ` for the platform ${platform}`;
  throw invalid("app_store_id", `${token.location} has no licenses for the app ${adamId}${where}`);
}

/** What the store says of the app, by platform. It is asked if nothing is stored. Not in a transaction. */
async function listingsOf(
  ctx: Context,
  token: VppTokenRow,
  { adam_id, platforms }: Pick<AssetRow, "adam_id" | "platforms">,
): Promise<ListingRow[]> {
  const where = and(eq("adam_id", adam_id), oneOf("platform", platforms));
  const stored = await ctx.store.storeListings.list({ where });
  if (stored.length > 0) return stored;
  try {
    await readListings(ctx, [{ adam_id, platforms }], token);
  } catch (error) {
    if (error instanceof LookupError) throw upstreamFailed(error.message);
    throw error;
  }
  const listings = await ctx.store.storeListings.list({ where });
  if (listings.length === 0) throw invalid("app_store_id", `the store does not know the app ${adam_id}`);
  return listings;
}

export const listingOf = (
  store: ServerTx,
  { adam_id, platform }: Pick<StoreAppRow, "adam_id" | "platform">,
): Promise<ListingRow | null> =>
  store.storeListings.first({ where: and(eq("adam_id", adam_id), eq("platform", platform)) });

/**
 * The app on the platform, or else on each platform that the organization has licenses for. Without a token, it is for
 * Android. Not in a transaction.
 */
export async function listingsFor(
  ctx: Context,
  token: VppTokenRow | null,
  { app_store_id, platform }: Pick<BatchApp, "app_store_id" | "platform">,
): Promise<ListingRow[]> {
  if (token === null) return [await androidListing(ctx, app_store_id)];
  const asset = await requireAsset(ctx.store, token, app_store_id, platform);
  const listings = await listingsOf(ctx, token, asset);
  return platform === undefined ? listings : listings.filter((listing) => listing.platform === platform);
}
