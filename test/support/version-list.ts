// A stand-in for the vendor's public list of system versions, in its format.
import { type Fake, startFake } from "./ca-fakes.ts";

export interface ListedVersion {
  readonly ProductVersion: string;
  readonly PostingDate: string;
  readonly ExpirationDate?: string;
  readonly SupportedDevices: readonly string[];
}

export interface VersionService extends Fake {
  readonly settings: { apple_software_update_url: string };
  /** What is public, and what only device management can ask for. */
  list: Record<"PublicAssetSets" | "AssetSets", Record<string, ListedVersion[]>>;
  /** Instead of the list. */
  status: number;
}

export const listed = (
  ProductVersion: string,
  PostingDate: string,
  SupportedDevices: readonly string[],
  ExpirationDate?: string,
): ListedVersion => ({
  ProductVersion,
  PostingDate,
  SupportedDevices,
  ...(ExpirationDate === undefined ? {} : { ExpirationDate }),
});

export const OLD_MAC = "J137AP";
export const NEW_MAC = "J316sAP";

/** macOS 15.2 for the newer Mac only, 14.7.2 for both; 18.2 for iPhones, 17.7.3 for iPads. */
export async function startVersionList(): Promise<VersionService> {
  const fake = await startFake(() =>
    service.status === 200
      ? {
          status: 200,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...service.list, PublicRapidSecurityResponses: {} }),
        }
      : { status: service.status, body: "not now" },
  );
  const service: VersionService = Object.assign(fake, {
    settings: { apple_software_update_url: `${fake.url}/v2/pmv` },
    list: {
      PublicAssetSets: {
        macOS: [listed("15.2", "2026-01-05", [NEW_MAC]), listed("14.7.2", "2026-01-03", [NEW_MAC, OLD_MAC])],
        iOS: [listed("18.2", "2026-01-04", ["iPhone15,2"]), listed("17.7.3", "2026-01-04", ["iPad13,1"])],
        visionOS: [listed("2.2", "2026-01-04", ["RealityDevice14,1"])],
      },
      AssetSets: { macOS: [listed("15.1", "2025-12-01", [NEW_MAC], "2030-03-01")] },
    },
    status: 200,
  });
  return service;
}
