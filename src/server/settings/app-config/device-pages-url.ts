// The address at which users open the pages of their devices.
import type { Services } from "../../platform/core/context.ts";
import { linkTo, serverUrl } from "../../platform/core/http/links.ts";

type Source = Pick<Services, "settings" | "config">;

/** Without a trailing slash. An empty string if neither `alternative_browser_host` nor `server_url` is set. */
export async function devicePagesUrl(source: Source): Promise<string> {
  const { alternative_browser_host: host } = (await source.config.current()).svc_desktop;
  return host === "" ? serverUrl(source) : `https://${host}`;
}

/** The full URL of a path below the page of a device. */
export async function linkToPages(source: Source, path: string): Promise<string> {
  const url = await devicePagesUrl(source);
  return url === "" ? linkTo(source, path) : `${url}${path}`;
}
