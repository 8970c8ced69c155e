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
const Found = z.object({
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
  const found: StoreListing[] = [];
  const wanted = new Set(adamIds);
  for (let at = 0; at < adamIds.length; at += BATCH_SIZE)
    for (const entity of entitiesOf(platforms)) {
      const results = await ask(services, adamIds.slice(at, at + BATCH_SIZE), entity, country);
      for (const one of results)
        if (wanted.has(String(one.trackId)))
          for (const platform of platformsOn(entity, one))
            if (platforms.includes(platform)) found.push(asListing(one, platform));
    }
  return found;
}

type Entity = "desktopSoftware" | "software";
const entitiesOf = (platforms: readonly StorePlatform[]): Entity[] => [
  ...(platforms.includes("darwin") ? ["desktopSoftware" as const] : []),
  ...(platforms.some((platform) => platform !== "darwin") ? ["software" as const] : []),
];

/** Apps for iPhones run on iPads, too, unless the store names only some devices. */
function platformsOn(entity: Entity, { supportedDevices }: z.output<typeof Found>): StorePlatform[] {
  if (entity === "desktopSoftware") return ["darwin"];
  const devices = supportedDevices ?? [];
  const names = (family: RegExp) => devices.length === 0 || devices.some((device) => family.test(device));
  return [...(names(/^(iPhone|iPod)/) ? ["ios" as const] : []), ...(names(/^iPad/) ? ["ipados" as const] : [])];
}

const asListing = (found: z.output<typeof Found>, platform: StorePlatform): StoreListing => ({
  adam_id: String(found.trackId),
  platform,
  name: found.trackName.slice(0, 255),
  bundle_identifier: found.bundleId,
  icon_url: iconOf(found),
  version: found.version,
});

/** Only addresses that browsers may load. */
function iconOf({ artworkUrl512, artworkUrl100 }: z.output<typeof Found>): string | null {
  const url = artworkUrl512 ?? artworkUrl100 ?? "";
  return URL.canParse(url) && new URL(url).protocol === "https:" ? url : null;
}

async function ask(
  services: Pick<Services, "running" | "dryRun" | "settings">,
  ids: readonly string[],
  entity: Entity,
  country: string,
): Promise<z.output<typeof Found>[]> {
  const url = new URL(services.settings.app_lookup_url);
  url.searchParams.set("id", ids.join(","));
  url.searchParams.set("entity", entity);
  if (country !== "") url.searchParams.set("country", country.toLowerCase());
  try {
    const { status, body } = await fetchVendor(services, url.href, { timeout: 30_000, maxBytes: MAX_BYTES });
    if (status !== 200) throw new LookupError(`the store answered with status ${status}`);
    const { results } = Reply.parse(JSON.parse(body.toString("utf8")));
    return results.flatMap((one) => Found.safeParse(one).data ?? []);
  } catch (error) {
    if (error instanceof OutboundError) throw new LookupError(error.message);
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw new LookupError("the store's reply is not valid");
    throw error;
  }
}
