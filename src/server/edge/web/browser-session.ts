// The session that a browser's cookie names: for pages, and for requests of the console to the API.
import { CONSOLE_HEADER } from "../../../api/console.ts";
import { authenticate } from "../../accounts/sessions/auth.ts";
import type { Services, Viewer } from "../../platform/core/context.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { cookieJar, readCookie } from "./cookies.ts";
import { cameFromElsewhere, formKey, rightToken, tokenOf } from "./forms.ts";

type Headers = { get(name: string): string | null };

/** Accepts only sessions of a browser: no API tokens, and no sessions of API-only users. */
export async function viewerOfSession(services: Services, token: string): Promise<Viewer | null> {
  const user = await authenticate(services, `Bearer ${token}`);
  return user === null || user.token_name !== "" || user.token_endpoints !== null || user.api_only ? null : user;
}

/**
 * The user of a request that a page of the console sends. The cookie alone proves nothing, because browsers send it
 * with requests that other sites cause; so the request must also come from this origin, and carry the form token of
 * the same session in a header, for reading too. Null: it is refused.
 */
export async function consoleViewer(services: Services, headers: Headers): Promise<Viewer | null> {
  const jar = await cookieJar(services);
  const session = readCookie(headers.get("cookie"), jar.session);
  if (session === null || !(await isOwnPage(services, headers))) return null;
  const key = await services.running.of(formKey).get();
  if (!rightToken(headers.get(CONSOLE_HEADER) ?? "", tokenOf(key, "session", session))) return null;
  return viewerOfSession(services, session);
}

/** Whether the browser says that a page of this origin sent the request. Sub-domains are other origins. */
async function isOwnPage(services: Services, headers: Headers): Promise<boolean> {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  return origin !== null && origin !== "null" && !cameFromElsewhere({ headers }, await serverUrl(services));
}
