import type { Context } from "../../platform/core/context.ts";
import { cookieJar, setCookie } from "./cookies.ts";
import { pageHeaders } from "./headers.ts";
import { html } from "./html.ts";
import { layout, organization } from "./layout.ts";
import { nextPath } from "./next-path.ts";

/**
 * Signs a browser in: a page that sets the session cookie and forwards to a path of this server, without a script. A
 * redirect would not work: after a form from the identity provider's site, browsers would still treat it as a
 * cross-site request.
 */
export async function signInPage(ctx: Context, sessionToken: string, relayUrl: string): Promise<Response> {
  const jar = await cookieJar(ctx);
  const to = nextPath(relayUrl);
  const body = html`<div class="card"><h1>You are signed in</h1>
<p><a class="button" href="${to}">Continue</a></p></div>`;
  const page = layout({ title: "Signed in", body, shape: "narrow", moveTo: to }, await organization(ctx));
  return new Response(page, { headers: { ...pageHeaders(), "set-cookie": setCookie(jar, jar.session, sessionToken) } });
}
