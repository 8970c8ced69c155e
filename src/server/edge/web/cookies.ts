// The cookies of the web pages. The API accepts only bearer tokens and ignores cookies, so pages of other sites
// cannot use it through a browser.
import type { Services } from "../../platform/core/context.ts";
import { serverUrl } from "../../platform/core/http/links.ts";

export interface CookieJar {
  /** Whether browsers use https. Then cookies are sent only by https and only this host can set them (`__Host-`). */
  readonly secure: boolean;
  readonly session: string;
  readonly form: string;
}

/** The cookie names depend on the scheme, so that a cookie set over plain http is never accepted over https. */
export async function cookieJar({ settings, config }: Pick<Services, "settings" | "config">): Promise<CookieJar> {
  const isTls = settings.tls_cert !== undefined || settings.tls_self_signed;
  const secure = isTls || /^https:/i.test(await serverUrl({ settings, config }));
  const prefix = secure ? "__Host-" : "";
  return { secure, session: `${prefix}svc_session`, form: `${prefix}svc_form` };
}

/**
 * Lax instead of Strict, so that users stay signed in when they come from the identity provider or from a link in a
 * mail.
 */
const attributes = ({ secure }: CookieJar): string => `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;

/** A browser session cookie. The server decides how long the session is valid. */
export const setCookie = (jar: CookieJar, name: string, value: string): string =>
  `${name}=${value}; ${attributes(jar)}`;

export const dropCookie = (jar: CookieJar, name: string): string => `${name}=; Max-Age=0; ${attributes(jar)}`;

/** Only values that have the form of a token are returned. */
export function readCookie(header: string | null, name: string): string | null {
  for (const part of (header ?? "").slice(0, 16_384).split(";")) {
    const at = part.indexOf("=");
    if (at < 0 || part.slice(0, at).trim() !== name) continue;
    const value = part.slice(at + 1).trim();
    return /^[\w-]{1,512}$/.test(value) ? value : null;
  }
  return null;
}
