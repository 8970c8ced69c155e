// The vendor's public list of the system versions that devices can be asked to install.
import { z } from "zod";
import type { Services } from "../../platform/core/context.ts";
import { fetchVendor } from "../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../platform/core/outbound/reply.ts";
import type { AppleVersion } from "./tables.ts";

/** The list was not read. The message may be shown to admins. */
export class VersionListError extends Error {}

const MAX_BYTES = 16 * 1024 * 1024;
const ENTRIES_MAX = 5_000;

const day = z.string().regex(/^\d{4}-\d\d-\d\d/);
const Entry = z.object({
  ProductVersion: z.string().regex(/^\d{1,9}(\.\d{1,9}){0,3}$/),
  PostingDate: day,
  ExpirationDate: day.nullish(),
  SupportedDevices: z.array(z.string().max(255)).max(ENTRIES_MAX).default([]),
});
const List = z.array(z.unknown()).max(ENTRIES_MAX).optional();
const Sets = z.object({ macOS: List, iOS: List }).optional();
/** The public versions, and those that only device management can ask for. */
const Reply = z.object({ PublicAssetSets: Sets, AssetSets: Sets });

const families = { macOS: "macos", iOS: "ios" } as const;

/** Throws `VersionListError` if the vendor cannot be asked, or if its reply is no list. */
export async function readVersions(
  services: Pick<Services, "running" | "dryRun" | "settings">,
): Promise<AppleVersion[]> {
  const { status, body } = await fetchVendor(services, services.settings.apple_software_update_url, {
    timeout: 30_000,
    maxBytes: MAX_BYTES,
  });
  if (status !== 200) throw new VersionListError(`the vendor's list was answered with status ${status}`);
  const reply = Reply.safeParse(jsonOf({ body }));
  if (!reply.success) throw new VersionListError("the vendor's list of versions is not as expected");
  const versions = new Map<string, AppleVersion>();
  for (const sets of [reply.data.PublicAssetSets, reply.data.AssetSets])
    for (const name of ["macOS", "iOS"] as const)
      for (const asset of sets?.[name] ?? []) add(versions, families[name], asset);
  if (versions.size === 0) throw new VersionListError("the vendor's list contains no versions");
  return [...versions.values()];
}

/** The two sets mostly contain the same versions, for different devices. Entries that are not as expected are left out. */
function add(versions: Map<string, AppleVersion>, family: AppleVersion["family"], asset: unknown): void {
  const { data } = Entry.safeParse(asset);
  if (!data) return;
  const posted = data.PostingDate.slice(0, 10);
  const key = `${family} ${data.ProductVersion} ${posted}`;
  const before = versions.get(key);
  const expires = data.ExpirationDate?.slice(0, 10) ?? null;
  versions.set(key, {
    family,
    version: data.ProductVersion,
    posted,
    expires: before ? later(before.expires, expires) : expires,
    devices: [...new Set([...(before?.devices ?? []), ...data.SupportedDevices])].sort(),
  });
}

const later = (time: string | null, other: string | null): string | null =>
  time === null || other === null ? null : time > other ? time : other;
