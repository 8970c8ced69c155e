// Where this service provider is, and which paths of it a sign-in may end at.
import type { SsoSettings } from "../../api/app-config.ts";
import type { Context } from "../core/context.ts";
import { serverUrl } from "../core/links.ts";

export interface ServiceProvider {
  /** By which browsers reach us, without a slash at the end. */
  readonly url: string;
  readonly entityId: string;
  /** Our assertion consumer service, to which the browser brings the response. */
  readonly acs: string;
  /** Whom an assertion may be for. */
  readonly audiences: readonly string[];
}

const CALLBACK = "/api/v1/svc/sso/callback";

/** Null while the server does not know by which address browsers reach it. */
export async function serviceProvider(
  ctx: Pick<Context, "config" | "settings">,
  sso: SsoSettings,
): Promise<ServiceProvider | null> {
  const url = sso.sso_server_url.replace(/\/+$/, "") || (await serverUrl(ctx));
  if (url === "") return null;
  const acs = `${url}${CALLBACK}`;
  return { url, entityId: sso.entity_id, acs, audiences: [sso.entity_id, url, `${url}/`, acs] };
}

/** Why a browser cannot be sent there after signing in: an address of another site would lend our name to it. */
export function relayProblem(relayUrl: string): string | null {
  if (relayUrl.length > 2048) return "relay_url must have at most 2048 characters";
  if (/[\p{Cc}\\]/u.test(relayUrl)) return "relay_url must have no backslashes and no control characters";
  if (!relayUrl.startsWith("/") || relayUrl.startsWith("//")) return "relay_url must be a path of this server: /...";
  return null;
}
