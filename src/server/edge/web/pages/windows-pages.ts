// Pages that Windows opens when a user enrolls the device: the sign-in with the terms, and the terms alone for devices of
// a directory, which has signed the user in.
import { createHash } from "node:crypto";
import { eulaApi } from "../../../../api/devices/eula.ts";
import { fullPath } from "../../../../api/paths.ts";
import { logout } from "../../../accounts/sessions/service.ts";
import { eulaToken } from "../../../devices/apple/setup/eula.ts";
import { requireWindowsMdm } from "../../../devices/gate.ts";
import {
  directoryReturnAddress,
  type ForDevice,
  hasProvider,
  isTicket,
  returnAddress,
  SIGN_IN_PAGE,
  startWindowsSignIn,
  tokenForTicket,
  tokenForUser,
} from "../../../devices/windows/sign-in/sign-in.ts";
import type { Context } from "../../../platform/core/context.ts";
import { forbiddenFor } from "../../../platform/core/errors.ts";
import { dropCookie } from "../cookies.ts";
import { pageHeaders } from "../headers.ts";
import { Html, html } from "../html.ts";
import { layout, organization } from "../layout.ts";
import type { Answer, PageContent, Visit } from "../page.ts";

/** The user signs in with the identity provider of the users of devices, or else with an account of this server. */
export async function windowsSignInPage(visit: Visit): Promise<Answer> {
  const { ctx, url, session, sendCookie } = visit;
  await requireWindowsMdm(ctx);
  const returnTo = returnAddress(url.searchParams.get("appru"));
  if (await hasProvider(ctx)) {
    const { to, cookie } = await startWindowsSignIn(ctx, returnTo);
    sendCookie(cookie);
    return { to };
  }
  if (session === null) return { to: `/login?${new URLSearchParams({ next: url.pathname + url.search })}` };
  if (ctx.user.force_password_reset) return { to: "/login/new-password" };
  return terms(visit, html`<input type="hidden" name="appru" value="${returnTo}">`);
}

/** After the sign-in with the identity provider. */
export async function windowsTermsPage(visit: Visit): Promise<Answer> {
  const { ctx, url } = visit;
  await requireWindowsMdm(ctx);
  const ticket = url.searchParams.get("ticket") ?? "";
  if (!(await isTicket(ctx, ticket))) throw tooLate();
  return terms(visit, html`<input type="hidden" name="ticket" value="${ticket}">`);
}

const tooLate = () => forbiddenFor("the sign-in took too long, or was used before: begin again");

/** The user has accepted the terms: the device gets its token. */
export async function acceptWindowsTerms(visit: Visit): Promise<Answer> {
  const { ctx, form, session, sendCookie, jar } = visit;
  const ticket = form.get("ticket");
  if (ticket !== null) return handOver(ctx, await tokenForTicket(ctx, ticket));
  if (session === null || ctx.user.force_password_reset) throw forbiddenFor("sign in first");
  const deviceToken = await tokenForUser(ctx, returnAddress(form.get("appru")));
  // The session was for this page only.
  await logout(ctx);
  sendCookie(dropCookie(jar, jar.session));
  return handOver(ctx, deviceToken);
}

/** What the directory shows before the device enrolls. The device gets the answer in the address that it returns to. */
export async function directoryTermsPage(visit: Visit): Promise<Answer> {
  const { ctx, url } = visit;
  await requireWindowsMdm(ctx);
  const returnTo = directoryReturnAddress(url.searchParams.get("redirect_uri"));
  const answer = (query: Record<string, string>) => `${returnTo}?${new URLSearchParams(query)}`;
  const accepted = answer({ IsAccepted: "true", OpaqueBlob: "accepted" });
  const declined = answer({ error: "access_denied", error_description: "the user has declined the terms" });
  return shownTerms(
    ctx,
    html`<p><a class="button" href="${accepted}">Agree and continue</a> <a class="button plain" href="${declined}">Decline</a></p>`,
  );
}

const terms = (visit: Visit, field: Html): Promise<PageContent> =>
  shownTerms(
    visit.ctx,
    html`<form method="post" action="${SIGN_IN_PAGE}">${visit.csrf()}${field}<button>Agree and continue</button></form>`,
  );

async function shownTerms(ctx: Context, buttons: Html): Promise<PageContent> {
  const { name } = await organization(ctx);
  // The endpoint of the agreement is refused while device management of Apple devices is turned off.
  const eula = (await ctx.config.current()).mdm.enabled_and_configured ? await eulaToken(ctx.store) : null;
  return {
    title: "Terms",
    shape: "narrow",
    body: html`<div class="card"><h1>Terms</h1>
<p>If you continue, ${name} manages this computer: it can change settings, install software, and erase the computer.
<a href="/transparency">What your organization can see</a></p>
${eula !== null && html`<p>Read the <a href="${fullPath(eulaApi.download).replace(":token", encodeURIComponent(eula))}">license agreement</a> before you continue.</p>`}
${buttons}</div>`,
  };
}

const SCRIPT = "document.forms[0].submit()";
const DIGEST = createHash("sha256").update(SCRIPT).digest("base64");

/** Windows reads the token from a form that the page posts to an address within the device (MS-MDE2, 3.2). */
async function handOver(ctx: Context, { returnTo, token }: ForDevice): Promise<Response> {
  const body = html`<div class="card"><h1>You are signed in</h1>
<form method="post" action="${returnTo}"><input type="hidden" name="wresult" value="${token}"><button>Continue</button></form>
<script>${new Html(SCRIPT)}</script></div>`;
  const headers = pageHeaders();
  const rules = headers["content-security-policy"]!.replace("form-action 'self'", "form-action ms-app:").concat(
    `; script-src 'sha256-${DIGEST}'`,
  );
  const page = layout({ title: "Signed in", body, shape: "narrow" }, await organization(ctx));
  return new Response(page, { headers: { ...headers, "content-security-policy": rules } });
}
