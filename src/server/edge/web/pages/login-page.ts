// Signing in and out.
import { type LoginReply, sessionsApi } from "../../../../api/accounts/sessions.ts";
import { ssoApi } from "../../../../api/accounts/sso.ts";
import { logout } from "../../../accounts/sessions/service.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { hasUsers } from "../../../settings/setup/service.ts";
import { call, callWhole } from "../call.ts";
import { dropCookie } from "../cookies.ts";
import { errorSentence } from "../error-page.ts";
import { html } from "../html.ts";
import { nextPath } from "../next-path.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { alert, field, good } from "../parts.ts";
import { signInPage } from "../sign-in.ts";
import { setupPage } from "./first-admin-page.ts";

/** Messages for the status codes of single sign-on. */
const statuses: Record<string, string> = {
  error: "The sign-in failed. Try again, or ask an administrator.",
  org_disabled: "Single sign-on is not turned on for this organization.",
  account_disabled: "Your account cannot sign in this way. Use your password, or ask an administrator.",
  account_invalid: "You do not have an account here. Ask an administrator to create one.",
};
const done: Record<string, string> = {
  signed_out: "You are signed out.",
  password_set: "The password is set. Sign in with it.",
  account_made: "Your account was created. Sign in.",
};

export async function loginPage(visit: Visit): Promise<Answer> {
  const { url, ctx } = visit;
  const next = nextPath(url.searchParams.get("next"));
  if (visit.session !== null) return { to: next };
  if (!(await hasUsers(ctx))) return setupPage(visit);
  return form(visit, next, {});
}

/** Signs in with the posted email and password. A wrong pair is reported on the form, which keeps the email. */
export async function logIn(visit: Visit): Promise<Answer> {
  const { ctx, form: fields } = visit;
  const next = nextPath(fields.get("next"));
  const email = fields.get("email") ?? "";
  const body = { email, password: fields.get("password") ?? "", supports_email_verification: true };
  try {
    const value = await call(ctx, sessionsApi.login, { body });
    if (!("token" in value)) return { to: "/login/mfa-sent" };
    return await enter(visit, value, next);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    const wrong = error.status === 401 ? "The email address or the password is wrong." : errorSentence(error);
    return form(visit, next, { email, wrong, status: error.status, retryAfter: error.retryAfter });
  }
}

/** Sets the session cookie. Refused for API-only accounts, whose sessions never expire. */
export async function enter(visit: Visit, { token, user }: LoginReply, next: string): Promise<Answer> {
  if (!user.api_only) return signInPage(visit.ctx, token, next);
  const viewer = await visit.whose(token);
  if (viewer !== null) await logout({ ...visit.ctx, user: viewer });
  return form(visit, next, {
    wrong: "This account can only be used with the API and the command line.",
    status: 403,
  });
}

interface FormOutcome {
  readonly email?: string;
  readonly wrong?: string;
  readonly status?: number;
  readonly retryAfter?: number | null;
}

async function form(
  visit: Visit,
  next: string,
  { email, wrong, status, retryAfter }: FormOutcome,
): Promise<PageContent> {
  const { ctx, url } = visit;
  const { settings: sso } = await call(ctx, ssoApi.settings);
  const code = url.searchParams.get("status") ?? "";
  const name = sso.idp_name || "single sign-on";
  return {
    title: "Sign in",
    shape: "narrow",
    ...(status === undefined ? {} : { status }),
    ...(retryAfter ? { retryAfter } : {}),
    body: html`<div class="card"><h1>Sign in</h1>
${wrong !== undefined ? alert(wrong) : Object.hasOwn(statuses, code) ? alert(statuses[code]!) : Object.hasOwn(done, code) && good(done[code]!)}
<form method="post" action="/login">${visit.csrf()}<input type="hidden" name="next" value="${next}">
${field({ name: "email", label: "Email", type: "email", value: email, autocomplete: "username" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", max: 1024, focus: email !== undefined && email !== "" })}
<button>Sign in</button></form>
<p class="small"><a href="/login/forgot">Forgot your password?</a></p>
${
  sso.sso_enabled &&
  html`<p class="or">or</p><form method="post" action="/login/sso">${visit.csrf()}<input type="hidden" name="next" value="${next}">
<button class="plain idp">${/^https:/i.test(sso.idp_image_url) && html`<img src="${sso.idp_image_url}" alt="">`}<span>Sign in with ${name}</span></button></form>`
}</div>`,
  };
}

const NO_PROVIDER = "The identity provider cannot be reached. Try again later, or ask an administrator.";

/** Forwards to the identity provider, with a page instead of a redirect, which `form-action` would have to allow. */
export async function startSso(visit: Visit): Promise<Answer> {
  const { ctx } = visit;
  const relay_url = nextPath(visit.form.get("next"));
  const begun = await callWhole(ctx, ssoApi.start, { body: { relay_url } }).catch((error: unknown) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
  // Show the form again, because a password may still work. The cause is in the log.
  if (begun instanceof ApiError) {
    const wrong = begun.status >= 500 ? NO_PROVIDER : errorSentence(begun);
    ctx.log.warn({ reason: errorSentence(begun), uuid: ctx.requestId }, "single sign-on cannot start");
    return form(visit, relay_url, { wrong, status: begun.status, retryAfter: begun.retryAfter });
  }
  const { value, reply } = begun;
  const cookie = reply.headers["set-cookie"];
  if (cookie !== undefined) visit.sendCookie(cookie);
  if (!/^https?:\/\//i.test(value.url)) throw new Error("the identity provider's URL is not an http or https URL");
  return {
    title: "Sign in",
    shape: "narrow",
    moveTo: value.url,
    body: html`<div class="card"><h1>Continue to your identity provider</h1><p><a class="button" href="${value.url}">Continue</a></p></div>`,
  };
}

export async function logOut(visit: Visit): Promise<Answer> {
  await call(visit.ctx, sessionsApi.logout);
  visit.sendCookie(dropCookie(visit.jar, visit.jar.session));
  return { to: "/login?status=signed_out" };
}
