// By which address people and agents reach this server: one answer for mails, pages, single sign-on and webhooks.
import type { Services } from "./context.ts";

type Source = Pick<Services, "settings" | "config">;

/** The configured address without a slash at its end; empty where none is set. */
export async function serverUrl({ settings, config }: Source): Promise<string> {
  const { server_url: configured } = (await config.current()).server_settings;
  return (configured || (settings.server_url ?? "")).replace(/\/+$/, "");
}

/** The whole address of a path of this server; by the address it listens on where no other is known. */
export async function linkTo(source: Source, path: string): Promise<string> {
  const { settings } = source;
  const scheme = settings.tls_cert !== undefined || settings.tls_self_signed ? "https" : "http";
  return `${(await serverUrl(source)) || `${scheme}://${settings.host}:${settings.port}`}${path}`;
}
