// Devices connect to the server's URL, so device management that is on limits what that may be.
import type { ConfigSections } from "../../../api/settings/app-config.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import { isForDevices } from "./sections/rules.ts";

type UrlSections = Pick<ConfigSections, "mdm" | "server_settings">;

const SERVER_URL = "server_settings.server_url";
const kinds = [
  { flag: "enabled_and_configured", devices: "Apple", hasOwnUrl: true },
  { flag: "windows_enabled_and_configured", devices: "Windows", hasOwnUrl: false },
  { flag: "android_enabled_and_configured", devices: "Android", hasOwnUrl: false },
] as const;
type Kind = (typeof kinds)[number];

/** The URL to which devices connect. `fallback`: that of the server's own settings (`--server-url`), or empty. */
const urlFor = ({ hasOwnUrl }: Kind, { mdm, server_settings }: UrlSections, fallback: string): string =>
  (hasOwnUrl && mdm.vendora_server_url) || server_settings.server_url || fallback;

const isFit = (url: string): boolean => URL.canParse(url) && isForDevices(new URL(url));

/**
 * Refuses to turn device management on with a URL to which devices do not connect, and, while it is on, a change to
 * such a URL. Other changes are not refused because of the URL.
 */
export function deviceUrlProblems(before: UrlSections, after: UrlSections, fallback: string): FieldError[] {
  const unfit = kinds.filter((kind) => after.mdm[kind.flag] && !isFit(urlFor(kind, after, fallback)));
  const turnedOn = unfit
    .filter(({ flag }) => !before.mdm[flag])
    .map(({ flag }) => ({
      name: `mdm.${flag}`,
      reason: `needs a ${SERVER_URL} that starts with https://, because devices connect to it`,
    }));
  // Without any URL, devices keep the one with which they enrolled: configuration files may leave it out.
  const isChanged = (kind: Kind) => !["", urlFor(kind, before, fallback)].includes(urlFor(kind, after, fallback));
  const lost = unfit.filter((kind) => before.mdm[kind.flag] && isChanged(kind));
  const isOwn = ({ hasOwnUrl }: Kind) => hasOwnUrl && before.mdm.vendora_server_url !== after.mdm.vendora_server_url;
  return [
    ...turnedOn,
    ...mustStay(
      SERVER_URL,
      lost.filter((kind) => !isOwn(kind)),
    ),
    ...mustStay("mdm.vendora_server_url", lost.filter(isOwn)),
  ];
}

function mustStay(name: string, lost: readonly Kind[]): FieldError[] {
  if (lost.length === 0) return [];
  const devices = lost.map((kind) => kind.devices).join(" and ");
  const reason = `must start with https://, because management of ${devices} devices is on: they connect to it`;
  return [{ name, reason }];
}
