// The page for users who must set a new password. Until then no other page is available to them.
import { usersApi } from "../../../../api/accounts/users.ts";
import { ApiError } from "../../../platform/core/errors.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { html } from "../html.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { accountField, field, PASSWORD_RULE } from "../parts.ts";

export async function newPasswordPage(visit: Visit): Promise<Answer> {
  return visit.ctx.user.force_password_reset ? form(visit) : { to: "/" };
}

export async function setNewPassword(visit: Visit): Promise<Answer> {
  const { ctx, form: fields } = visit;
  const new_password = fields.get("new_password") ?? "";
  if (new_password !== fields.get("new_password_again")) return form(visit, undefined, "The passwords must match.");
  try {
    await call(ctx, usersApi.performRequiredPasswordReset, { body: { new_password } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    return form(visit, errorSentence(error));
  }
  return { to: "/" };
}

const form = (visit: Visit, wrong?: string, wrongAgain?: string): PageContent => ({
  title: "Choose a new password",
  shape: "narrow",
  ...(wrong || wrongAgain ? { status: 422 } : {}),
  body: html`<div class="card"><h1>Choose a new password</h1>
<p>An administrator requires you to choose a new password before you continue.</p>
<form method="post" action="/login/new-password">${visit.csrf()}
${accountField(visit.ctx.user.email)}
${newPasswordFields(wrong, wrongAgain)}
<button>Set password</button></form></div>
<form method="post" action="/logout">${visit.csrf()}<button class="plain">Sign out</button></form>`,
});

export const newPasswordFields = (wrong?: string, wrongAgain?: string) => html`
${field({ name: "new_password", label: "New password", type: "password", autocomplete: "new-password", max: 1024, hint: PASSWORD_RULE, wrong })}
${field({ name: "new_password_again", label: "New password again", type: "password", autocomplete: "new-password", max: 1024, wrong: wrongAgain })}`;
