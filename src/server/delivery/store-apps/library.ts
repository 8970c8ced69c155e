// What an organization has licenses for, as the license service and the store report it.
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { type LicenseAccount, type LicenseAsset, type LicenseClient, platformsOf } from "./license-client.ts";
import { lookUp, type StoreListing } from "./store-lookup.ts";
import type { StorePlatform } from "./tables.ts";

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock"> & { readonly store: ServerTx };

/** All apps of the token's location. Books are left out. */
export async function readLibrary(client: LicenseClient): Promise<LicenseAsset[]> {
  const assets = new Map<string, LicenseAsset>();
  for await (const page of client.assets())
    for (const asset of page)
      if (asset.productType === "App") assets.set(`${asset.adamId} ${asset.pricingParam}`, asset);
  return [...assets.values()];
}

/** Replaces what is stored of the token's location. In the caller's transaction. */
export async function writeLibrary(store: ServerTx, tokenId: number, assets: readonly LicenseAsset[]): Promise<void> {
  const rows = await store.vppAssets.upsert(
    assets.map((asset) => ({
      token_id: tokenId,
      adam_id: asset.adamId,
      pricing_param: asset.pricingParam,
      platforms: platformsOf(asset),
      is_device_assignable: asset.deviceAssignable,
      total_count: asset.totalCount,
      available_count: asset.availableCount,
    })),
    { on: ["token_id", "adam_id", "pricing_param"], returning: ["id"] },
  );
  const ids = rows.map(({ id }) => id);
  await store.vppAssets.delete(and(eq("token_id", tokenId), not(oneOf("id", ids))));
}

/** Asks the store for names, icons and newest versions. Throws `LookupError`. */
export async function readListings(
  services: Deps,
  assets: readonly { readonly adam_id: string; readonly platforms: readonly StorePlatform[] }[],
  { country_code: country }: { readonly country_code: string },
): Promise<void> {
  const { store, clock } = services;
  const platformsOfApp = new Map(assets.map(({ adam_id, platforms }) => [adam_id, platforms]));
  const platforms = [...new Set(assets.flatMap((asset) => asset.platforms))];
  const listings = await lookUp(services, { adamIds: [...platformsOfApp.keys()], platforms, country });
  const ofAssets = new Map<string, StoreListing>();
  for (const listing of listings)
    if (platformsOfApp.get(listing.adam_id)!.includes(listing.platform))
      ofAssets.set(`${listing.adam_id} ${listing.platform}`, listing);
  await store.storeListings.upsert(
    [...ofAssets.values()].map((listing) => ({ ...listing, read_at: clock.iso() })),
    { on: ["adam_id", "platform"], returning: [] },
  );
}

export const accountColumns = ({ uId, locationName, countryISO2ACode }: LicenseAccount) => ({
  library_id: uId,
  location: locationName,
  country_code: countryISO2ACode,
});
