// What the store says of apps: the vendor's public lookup by ids.
import { z } from "zod";
import type { Services } from "../../platform/core/context.ts";
import { fetchVendor, OutboundError } from "../../platform/core/outbound/fetch.ts";
import type { StorePlatform } from "./tables.ts";

export interface StoreListing {
  readonly adam_id: string;
  readonly platform: StorePlatform;
  readonly name: string;
  readonly bundle_identifier: string;
  readonly icon_url: string | null;
  readonly version: string;
}

/** The store could not be asked. The message may be shown to admins. */
export class LookupError extends Error {}

const text = z.string().max(2000);
const LookedUpApp = z.object({
  trackId: z.int().positive(),
  trackName: text.min(1),
  bundleId: text.min(1),
  version: text.default(""),
  artworkUrl512: text.nullish(),
  artworkUrl100: text.nullish(),
  supportedDevices: z.array(text).nullish(),
});
const Reply = z.object({ results: z.array(z.unknown()).max(1000) });

/** Ids in one request. */
const BATCH_SIZE = 50;
const MAX_BYTES = 16 * 1024 * 1024;

/** Apps that the store does not know are left out. */
export async function lookUp(
  services: Pick<Services, "running" | "dryRun" | "settings">,
  { adamIds, platforms, country }: { adamIds: readonly string[]; platforms: readonly StorePlatform[]; country: string },
): Promise<StoreListing[]> {
  const listings: StoreListing[] = [];
  const desired = new Set(adamIds);
  for (let at = 0; at < adamIds.length; at += BATCH_SIZE)
    for (const entity of entitiesOf(platforms)) {
      const results = await ask(services, adamIds.slice(at, at + BATCH_SIZE), entity, country);
      for (const app of results)
        if (desired.has(String(app.trackId)))
          for (const platform of platformsOn(entity, app))
            if (platforms.includes(platform)) listings.push(asListing(app, platform));
    }
  return listings;
}

type Entity = "desktopSoftware" | "software";
const entitiesOf = (platforms: readonly StorePlatform[]): Entity[] => [
  ...(platforms.includes("darwin") ? ["desktopSoftware" as const] : []),
  ...(platforms.some((platform) => platform !== "darwin") ? ["software" as const] : []),
];

/** Apps for iPhones run on iPads, too, unless the store names only some devices. */
function platformsOn(entity: Entity, { supportedDevices }: z.output<typeof LookedUpApp>): StorePlatform[] {
  if (entity === "desktopSoftware") return ["darwin"];
  const devices = supportedDevices ?? [];
  const names = (family: RegExp) => devices.length === 0 || devices.some((device) => family.test(device));
  return [...(names(/^(iPhone|iPod)/) ? ["ios" as const] : []), ...(names(/^iPad/) ? ["ipados" as const] : [])];
}

const asListing = (app: z.output<typeof LookedUpApp>, platform: StorePlatform): StoreListing => ({
  adam_id: String(app.trackId),
  platform,
  name: app.trackName.slice(0, 255),
  bundle_identifier: app.bundleId,
  icon_url: iconOf(app),
  version: app.version,
});

/** Only addresses that browsers may load. */
function iconOf({ artworkUrl512, artworkUrl100 }: z.output<typeof LookedUpApp>): string | null {
  const url = artworkUrl512 ?? artworkUrl100 ?? "";
  return URL.canParse(url) && new URL(url).protocol === "https:" ? url : null;
}

async function ask(
  services: Pick<Services, "running" | "dryRun" | "settings">,
  ids: readonly string[],
  entity: Entity,
  country: string,
): Promise<z.output<typeof LookedUpApp>[]> {
  const url = new URL(services.settings.app_lookup_url);
  url.searchParams.set("id", ids.join(","));
  url.searchParams.set("entity", entity);
  if (country !== "") url.searchParams.set("country", country.toLowerCase());
  try {
    const { status, body } = await fetchVendor(services, url.href, { timeout: 30_000, maxBytes: MAX_BYTES });
    if (status !== 200) throw new LookupError(`the store answered with status ${status}`);
    const { results } = Reply.parse(JSON.parse(body.toString("utf8")));
    return results.flatMap((entry) => LookedUpApp.safeParse(entry).data ?? []);
  } catch (error) {
    if (error instanceof OutboundError) throw new LookupError(error.message);
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw new LookupError("the store's reply is not valid");
    throw error;
  }
}
