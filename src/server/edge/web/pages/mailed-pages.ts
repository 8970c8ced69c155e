// The pages behind mailed links. Opening one changes nothing, because mail scanners open links too: a button performs
// the action.

import { invitesApi } from "../../../../api/accounts/invites.ts";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import type { ReplyOf } from "../../../../api/endpoint.ts";
import { mailApi } from "../../../../api/settings/mail.ts";
import { readUnsubscribeToken, UNSUBSCRIBE_PAGE, unsubscribe } from "../../../automations/policy-mails/unsubscribe.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { type Html, html } from "../html.ts";
import type { Answer, Page, PageContent, Visit } from "../page.ts";
import { accountField, alert, field, good } from "../parts.ts";
import { enter } from "./login-page.ts";
import { newPasswordFields } from "./new-password-page.ts";

const card = (title: string, content: Html, more: Partial<PageContent> = {}): PageContent => ({
  title,
  shape: "narrow",
  body: html`<div class="card"><h1>${title}</h1>${content}</div>`,
  ...more,
});

/**
 * Returns an error that the viewer can correct on the form. Rethrows any other, which is shown on a page of its own.
 */
function mendable(error: unknown): ApiError {
  if (error instanceof ApiError && [400, 409, 422].includes(error.status)) return error;
  throw error;
}

const reasonFor = (error: ApiError | undefined, name: string): string | undefined => {
  const fieldError = error?.errors.find((candidate) => candidate.name === name);
  return fieldError && errorSentence(new ApiError(error!.status, "", [fieldError]));
};

const isUsedUp = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 404);

// Multi-factor authentication.

const mfaSent = async (): Promise<Answer> =>
  card(
    "Check your mail",
    html`<p>A link to finish signing in was mailed to you. It works once, for 15 minutes. You can close this page.</p>
<p class="small"><a href="/login">Back to sign-in</a></p>`,
  );

const mfaPage = async ({ csrf, params }: Visit): Promise<Answer> =>
  card(
    "Finish signing in",
    html`<form method="post" action="/login/mfa/${encodeURIComponent(params.token ?? "")}">${csrf()}<button>Sign in</button></form>`,
  );

async function finishMfa(visit: Visit): Promise<Answer> {
  try {
    return await enter(
      visit,
      await call(visit.ctx, sessionsApi.create, { body: { token: visit.params.token ?? "" } }),
      "/",
    );
  } catch (error) {
    if (!isUsedUp(error)) throw error;
    return usedUp(html`<a href="/login">Sign in again</a>`);
  }
}

const usedUp = (instead: Html, status = 401): PageContent =>
  card("This link does not work", html`${alert("It has been used already, or it has expired.")}<p>${instead}</p>`, {
    status,
  });

// A forgotten password.

const forgotForm = (visit: Visit, email = "", error?: ApiError): PageContent =>
  card(
    "Forgot your password?",
    html`${error !== undefined && alert(errorSentence(error))}
<form method="post" action="/login/forgot">${visit.csrf()}
${field({ name: "email", label: "Email", type: "email", value: email, autocomplete: "username", hint: "the link to choose a new password is sent to this address" })}
<button>Send link</button></form>
<p class="small"><a href="/login">Back to sign-in</a></p>`,
    error === undefined ? {} : { status: error.status, ...(error.retryAfter ? { retryAfter: error.retryAfter } : {}) },
  );

async function forgot(visit: Visit): Promise<Answer> {
  const email = visit.form.get("email") ?? "";
  try {
    await call(visit.ctx, mailApi.forgotPassword, { body: { email } });
  } catch (error) {
    // Without outgoing mail the API returns a 500.
    if (!(error instanceof ApiError)) throw error;
    return forgotForm(visit, email, error);
  }
  return card(
    "Check your mail",
    html`${good("If there is an account with this address, a link to choose a new password was mailed to it.")}
<p class="small"><a href="/login">Back to sign-in</a></p>`,
  );
}

const resetForm = (visit: Visit, token: string, wrong?: string, again?: string): PageContent =>
  card(
    "Choose a new password",
    html`<form method="post" action="/login/reset/${encodeURIComponent(token)}">${visit.csrf()}
${newPasswordFields(wrong, again)}<button>Set password</button></form>`,
    wrong || again ? { status: 422 } : {},
  );

async function reset(visit: Visit): Promise<Answer> {
  const { form, params } = visit;
  const token = params.token ?? "";
  const password = form.get("new_password") ?? "";
  if (password !== form.get("new_password_again"))
    return resetForm(visit, token, undefined, "The passwords must match.");
  try {
    const body = { new_password: password, new_password_confirmation: password, password_reset_token: token };
    await call(visit.ctx, mailApi.resetPassword, { body });
  } catch (error) {
    if (isUsedUp(error)) return usedUp(html`<a href="/login/forgot">Request a new link</a>`);
    return resetForm(visit, token, errorSentence(mendable(error)));
  }
  return { to: "/login?status=password_set" };
}

// Invites.

async function invitePage(visit: Visit): Promise<Answer> {
  const inviteReply = await inviteOf(visit);
  return "invite" in inviteReply ? inviteForm(visit, inviteReply) : inviteReply;
}

type InviteReply = ReplyOf<typeof invitesApi.show>;

/** The invite of the link, or a page for an invite that was used, withdrawn or has expired. */
async function inviteOf({ ctx, params }: Visit): Promise<InviteReply | PageContent> {
  try {
    return await call(ctx, invitesApi.show, { params: { token: params.token ?? "" } });
  } catch (error) {
    if (!(error instanceof ApiError) || ![404, 422].includes(error.status)) throw error;
    const instead = html`If you already have an account, <a href="/login">sign in</a>. Otherwise request a new invite.`;
    return usedUp(instead, error.status);
  }
}

function inviteForm(visit: Visit, { invite }: InviteReply, error?: ApiError): PageContent {
  const token = visit.params.token ?? "";
  const name = visit.form.get("name") ?? invite.name;
  const fields = ["name", "password", "password_confirmation"];
  const about = invite.global_role ?? invite.teams.map(({ name: team, role }) => `${role} of ${team}`).join(", ");
  return card(
    "Create your account",
    html`<p>You are invited as <strong>${invite.email}</strong>${about !== "" && ` (${about})`}.</p>
${error !== undefined && !error.errors.some((fieldError) => fields.includes(fieldError.name)) && alert(errorSentence(error))}
<form method="post" action="/login/invites/${encodeURIComponent(token)}">${visit.csrf()}${accountField(invite.email)}
${field({ name: "name", label: "Name", value: name, autocomplete: "name", wrong: reasonFor(error, "name") })}
${!invite.sso_enabled && newPasswordFields(reasonFor(error, "password"), reasonFor(error, "password_confirmation"))}
<button>Create account</button></form>`,
    error === undefined ? {} : { status: error.status },
  );
}

async function acceptInvite(visit: Visit): Promise<Answer> {
  const { ctx, form } = visit;
  const inviteReply = await inviteOf(visit);
  if (!("invite" in inviteReply)) return inviteReply;
  const { invite } = inviteReply;
  const password = form.get("new_password") ?? "";
  if (!invite.sso_enabled && password !== form.get("new_password_again"))
    return inviteForm(
      visit,
      inviteReply,
      new ApiError(422, "", [{ name: "password_confirmation", reason: "the passwords must match" }]),
    );
  const body = {
    name: form.get("name") ?? "",
    email: invite.email,
    invite_token: visit.params.token ?? "",
    ...(invite.sso_enabled ? { sso_invite: true } : { password }),
  };
  try {
    await call(ctx, invitesApi.accept, { body });
  } catch (error) {
    return inviteForm(visit, inviteReply, mendable(error));
  }
  return { to: "/login?status=account_made" };
}

// A new email address.

const emailPage = async ({ csrf, params, ctx }: Visit): Promise<Answer> =>
  card(
    "Confirm your new email address",
    html`<p>You will then sign in with this address, instead of <strong>${ctx.user.email}</strong>.</p>
<form method="post" action="/email/change/${encodeURIComponent(params.token ?? "")}">${csrf()}<button>Confirm</button></form>`,
  );

async function confirmEmail({ ctx, params }: Visit): Promise<Answer> {
  try {
    await call(ctx, mailApi.confirmEmail, { params: { token: params.token ?? "" } });
  } catch (error) {
    if (!isUsedUp(error)) throw error;
    return usedUp(
      html`Change the address <a href="/profile">in your account</a> again. The link only works for the user who requested it.`,
    );
  }
  return { to: "/profile?status=email" };
}

// Mails about failing policies. Mail programs send the form too, with one click (RFC 8058).

async function unsubscribePage({ ctx, params }: Visit): Promise<Answer> {
  const token = params.token ?? "";
  const { email } = await readUnsubscribeToken(ctx, token);
  return card(
    "Unsubscribe",
    html`<p><strong>${email}</strong> will get no more mails about failing policies of this team.</p>
<form method="post" action="${UNSUBSCRIBE_PAGE}${encodeURIComponent(token)}"><button>Unsubscribe</button></form>`,
  );
}

async function unsubscribeNow({ ctx, params }: Visit): Promise<Answer> {
  const subscription = await readUnsubscribeToken(ctx, params.token ?? "");
  await unsubscribe(ctx, subscription);
  return card(
    "You have unsubscribed",
    html`<p><strong>${subscription.email}</strong> gets no more of these mails. An administrator can add the address again.</p>`,
  );
}

export const mailedPages: readonly Page[] = [
  { method: "GET", path: "/login/mfa-sent", purpose: "sign-in", access: "open", answer: mfaSent },
  { method: "GET", path: "/login/mfa/:token", purpose: "sign-in", access: "open", answer: mfaPage },
  { method: "POST", path: "/login/mfa/:token", purpose: "sign-in", access: "open", answer: finishMfa },
  { method: "GET", path: "/login/forgot", access: "open", answer: async (visit) => forgotForm(visit) },
  { method: "POST", path: "/login/forgot", access: "open", answer: forgot },
  {
    method: "GET",
    path: "/login/reset/:token",
    access: "open",
    answer: async (visit) => resetForm(visit, visit.params.token ?? ""),
  },
  { method: "POST", path: "/login/reset/:token", access: "open", answer: reset },
  { method: "GET", path: "/login/invites/:token", access: "open", answer: invitePage },
  { method: "POST", path: "/login/invites/:token", access: "open", answer: acceptInvite },
  { method: "GET", path: `${UNSUBSCRIBE_PAGE}:token`, access: "open", answer: unsubscribePage },
  { method: "POST", path: `${UNSUBSCRIBE_PAGE}:token`, access: "open", isOneClick: true, answer: unsubscribeNow },
  { method: "GET", path: "/email/change/:token", access: "user", answer: emailPage },
  { method: "POST", path: "/email/change/:token", access: "user", answer: confirmEmail },
];
