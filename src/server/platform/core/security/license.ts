import type { License } from "../../../../api/settings/app-config.ts";
import { LicenseError, verifyLicense } from "../../../../license/license.ts";
import { type Clock, days, isoAt } from "../clock.ts";
import type { Settings } from "../settings/settings.ts";
import { BadSetting } from "./tls.ts";

/**
 * Returns the license from the settings. With an expired license, premium data can still be read (every reply reports
 * the expiry). A key that cannot be verified prevents the start, instead of silently falling back to the free tier.
 */
export async function readLicense(
  settings: Pick<Settings, "license_key" | "license_public_key" | "dev_license">,
  clock: Pick<Clock, "now">,
): Promise<License> {
  if (settings.license_key !== undefined && settings.license_key.trim() !== "")
    return verified(settings.license_key, settings.license_public_key, clock);
  if (!settings.dev_license) return { tier: "free", expiration: "2100-01-01T00:00:00.000Z" };
  return {
    tier: "premium",
    expiration: isoAt(clock.now() + days(365)),
    organization: "development",
    device_count: 1_000_000,
    note: "development license: not for production use",
  };
}

async function verified(key: string, publicKey: string | undefined, clock: Pick<Clock, "now">): Promise<License> {
  const { license, validFrom } = await verifyLicense(key, publicKey).catch((error: unknown) => {
    if (!(error instanceof LicenseError)) throw error;
    throw new BadSetting(`${error.of === "key" ? "license_key" : "license_public_key"} ${error.message}`);
  });
  if (validFrom !== null && Date.parse(validFrom) > clock.now())
    throw new BadSetting(`license_key is valid only from ${validFrom}`);
  return license;
}
