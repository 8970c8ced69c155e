// The addresses of this service provider, and the paths to which a sign-in may return.
import type { SsoSettings } from "../../../api/settings/app-config.ts";
import type { Context } from "../../platform/core/context.ts";
import { serverUrl } from "../../platform/core/http/links.ts";

export interface ServiceProvider {
  /** The URL under which browsers reach this server, without a trailing slash. */
  readonly url: string;
  readonly entityId: string;
  /** The URL of the assertion consumer service, to which the browser posts the response. */
  readonly acs: string;
  /** The audiences that an assertion may have. */
  readonly audiences: readonly string[];
}

const CALLBACK = "/api/v1/svc/sso/callback";

/** Null until the server's public URL is known. */
export async function serviceProvider(
  ctx: Pick<Context, "config" | "settings">,
  sso: SsoSettings,
): Promise<ServiceProvider | null> {
  const url = sso.sso_server_url.replace(/\/+$/, "") || (await serverUrl(ctx));
  if (url === "") return null;
  return providerAt(url, CALLBACK, sso.entity_id);
}

export function providerAt(url: string, callback: string, entityId: string): ServiceProvider {
  const acs = `${url}${callback}`;
  return { url, entityId, acs, audiences: [entityId, url, `${url}/`, acs] };
}

/**
 * The reason why the browser must not be sent there after signing in, or null. A URL of another site would be an open
 * redirect.
 */
export function relayProblem(relayUrl: string): string | null {
  if (relayUrl.length > 2048) return "relay_url must have at most 2048 characters";
  if (/[\p{Cc}\\]/u.test(relayUrl)) return "relay_url must have no backslashes and no control characters";
  if (!relayUrl.startsWith("/") || relayUrl.startsWith("//")) return "relay_url must be a path of this server: /...";
  return null;
}
