// The address of this server as users and agents reach it, for mails, pages, single sign-on and webhooks.
import type { Services } from "../context.ts";

type Source = Pick<Services, "settings" | "config">;

/** The configured URL without a trailing slash, or an empty string if none is set. */
export async function serverUrl({ settings, config }: Source): Promise<string> {
  const { server_url: configured } = (await config.current()).server_settings;
  return (configured || (settings.server_url ?? "")).replace(/\/+$/, "");
}

/**
 * The full URL of a path on this server. Without a configured URL, the address that the server listens on is used.
 */
export async function linkTo(source: Source, path: string): Promise<string> {
  const { settings } = source;
  const scheme = settings.tls_cert !== undefined || settings.tls_self_signed ? "https" : "http";
  return `${(await serverUrl(source)) || `${scheme}://${settings.host}:${settings.port}`}${path}`;
}
