// The cookies of the web pages. The API takes bearer tokens only and reads none of them, so no other site's page can use it through a browser.
import type { Services } from "../core/context.ts";
import { serverUrl } from "../core/links.ts";

export interface CookieJar {
  /** Whether browsers reach this server by https; then cookies go nowhere else and cannot be set from elsewhere (`__Host-`). */
  readonly secure: boolean;
  readonly session: string;
  readonly form: string;
}

/** The names follow how the server is reached, so that a cookie that was planted over plain http is not read as one of https. */
export async function cookieJar({ settings, config }: Pick<Services, "settings" | "config">): Promise<CookieJar> {
  const isTls = settings.tls_cert !== undefined || settings.tls_self_signed;
  const secure = isTls || /^https:/i.test(await serverUrl({ settings, config }));
  const prefix = secure ? "__Host-" : "";
  return { secure, session: `${prefix}svc_session`, form: `${prefix}svc_form` };
}

/** Lax and not Strict: whoever comes back from the identity provider, or by a link in a mail, is still signed in. */
const attributes = ({ secure }: CookieJar): string => `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;

/** Of the browser's session; how long the server's session lives, the server decides. */
export const setCookie = (jar: CookieJar, name: string, value: string): string =>
  `${name}=${value}; ${attributes(jar)}`;

export const dropCookie = (jar: CookieJar, name: string): string => `${name}=; Max-Age=0; ${attributes(jar)}`;

/** Values are tokens of ours: anything else is none. */
export function readCookie(header: string | null, name: string): string | null {
  for (const part of (header ?? "").slice(0, 16_384).split(";")) {
    const at = part.indexOf("=");
    if (at < 0 || part.slice(0, at).trim() !== name) continue;
    const value = part.slice(at + 1).trim();
    return /^[\w-]{1,512}$/.test(value) ? value : null;
  }
  return null;
}
