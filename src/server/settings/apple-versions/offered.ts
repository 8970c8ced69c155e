// The system versions that Apple devices can be asked to install, by the list that was read last.
import type { MdmSettings } from "../../../api/settings/app-config.ts";
import { isOlder } from "../../../text/versions.ts";
import { days } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { AppleVersion, appleVersionLists } from "./tables.ts";

/** A minimum version that follows the vendor's list. */
export const LATEST = "latest";

export type UpdatePlatform = "darwin" | "ios" | "ipados";
export type VersionList = Pick<RowOf<typeof appleVersionLists>, "checksum" | "versions">;

/** Null: it was never read. */
export async function versionList(store: Pick<ServerTx, "appleVersionLists">): Promise<VersionList | null> {
  const [list] = await store.appleVersionLists.list({});
  return list ?? null;
}

export interface UpdatedDevice {
  readonly platform: UpdatePlatform;
  /** The name by which the device looks for updates; empty: not known. */
  readonly device: string;
}

interface Release {
  readonly version: string;
  readonly posted: string;
}

/** The newest version for the device; null: there is none, or it is not known which device it is. */
export function latestFor(list: VersionList, { platform, device }: UpdatedDevice, today: string): Release | null {
  const fitting = offered(list, platform, today).filter(({ devices }) => devices.includes(device));
  return newestFirst(fitting)[0] ?? null;
}

const familyOf = { darwin: "macos", ios: "ios", ipados: "ios" } as const;
const isFor: Readonly<Record<UpdatePlatform, (device: string) => boolean>> = {
  darwin: () => true,
  ios: (device) => !device.startsWith("iPad"),
  ipados: (device) => device.startsWith("iPad"),
};

const offered = ({ versions }: VersionList, platform: UpdatePlatform, today: string): AppleVersion[] =>
  versions.filter(
    ({ family, expires, devices }) =>
      family === familyOf[platform] && (expires === null || expires >= today) && devices.some(isFor[platform]),
  );

const newestFirst = (versions: readonly AppleVersion[]): AppleVersion[] =>
  [...versions].sort((version, other) =>
    isOlder(version.version, other.version)
      ? 1
      : isOlder(other.version, version.version)
        ? -1
        : version.posted.localeCompare(other.posted),
  );

type Updates = Pick<MdmSettings, "macos_updates" | "ios_updates" | "ipados_updates">;
const platformOf = { macos_updates: "darwin", ios_updates: "ios", ipados_updates: "ipados" } as const;
const settings = Object.keys(platformOf) as (keyof Updates)[];

/** A list that was read longer ago may lack new versions. */
const MAX_LIST_AGE = days(2);
/** Versions that a message names. */
const SHOWN_VERSIONS = 6;

/**
 * Minimum versions that the change sets although the vendor does not offer them: devices would report an error.
 * Without a current list nothing is known about them, so that all are accepted.
 */
export async function versionProblems(
  { store, clock }: Pick<Context, "store" | "clock">,
  before: Updates | null,
  after: Updates,
): Promise<FieldError[]> {
  const changed = settings.filter((name) => {
    const { minimum_version: version } = after[name];
    return version !== "" && version !== LATEST && version !== before?.[name].minimum_version;
  });
  if (changed.length === 0) return [];
  const [list] = await store.appleVersionLists.list({});
  if (!list || clock.now() - Date.parse(list.read_at) > MAX_LIST_AGE) return [];
  return changed.flatMap((name): FieldError[] => {
    const versions = newestFirst(offered(list, platformOf[name], clock.iso().slice(0, 10)));
    const { minimum_version: version } = after[name];
    if (versions.length === 0 || versions.some((offer) => isSameVersion(offer.version, version))) return [];
    const shown = [...new Set(versions.map((offer) => offer.version))].slice(0, SHOWN_VERSIONS).join(", ");
    const reason =
      `cannot be ${version}: the vendor does not offer this version. Use one that it offers (${shown}), or run ` +
      "`svc jobs run apple_versions` to read its list again.";
    return [{ name: `${name}.minimum_version`, reason }];
  });
}

const isSameVersion = (version: string, other: string): boolean => !isOlder(version, other) && !isOlder(other, version);
