// The viewer's own account: its data, password, API tokens and sessions.
import type { z } from "zod";
import { type Session, sessionsApi } from "../../../../api/accounts/sessions.ts";
import { tokensApi } from "../../../../api/accounts/tokens.ts";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { isUnused } from "../../../accounts/sessions/lifetime.ts";
import type { Context } from "../../../platform/core/context.ts";
import { ApiError, notFound, permissionDenied } from "../../../platform/core/errors.ts";
import { mailConfigured } from "../../../platform/mail/mail.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { type Html, html } from "../html.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { accountField, alert, facts, field, good, moment, select, when } from "../parts.ts";

const lifetimes = [
  { value: "1d", text: "1 day" },
  { value: "7d", text: "7 days" },
  { value: "30d", text: "30 days" },
  { value: "90d", text: "90 days" },
  { value: "365d", text: "1 year" },
];

const done: Record<string, string> = {
  ended: "The session or token was ended.",
  email: "Your email address was changed.",
  email_mailed: "A link was mailed to the new address. The old address stays valid until you confirm the new one.",
  password: "Your password was changed. Your other sessions and tokens were ended.",
};

type CreatedToken = z.output<typeof tokensApi.create.response>;

type Form = "token" | "password" | "email";

interface FormOutcome {
  readonly createdToken?: CreatedToken;
  readonly error?: ApiError;
  /** The form to which the error belongs. */
  readonly of?: Form;
  /** The value entered in the form's first field, unless it is secret. */
  readonly input?: string;
}

export const profilePage = (visit: Visit): Promise<Answer> => profile(visit, {});

/** The token is shown once, in the reply to the form. It is not stored in readable form. */
export const makeToken = (visit: Visit): Promise<Answer> => {
  const name = visit.form.get("name")?.trim() ?? "";
  const body = { name, expires_in: visit.form.get("expires_in") || "90d" };
  return refusable(visit, "token", name, async () =>
    profile(visit, { createdToken: await call(visit.ctx, tokensApi.create, { body }) }),
  );
};

export const changeOwnPassword = (visit: Visit): Promise<Answer> =>
  refusable(visit, "password", "", async () => {
    const [old_password, new_password] = [visit.form.get("old_password") ?? "", visit.form.get("new_password") ?? ""];
    if (new_password !== visit.form.get("new_password_again"))
      throw new ApiError(422, "Validation Failed", [
        { name: "new_password_again", reason: "the passwords must match" },
      ]);
    await call(visit.ctx, usersApi.changePassword, { body: { old_password, new_password } });
    return { to: "/profile?status=password" };
  });

export const changeOwnEmail = (visit: Visit): Promise<Answer> => {
  const email = visit.form.get("email")?.trim() ?? "";
  return refusable(visit, "email", email, async () => {
    const body = { email, password: visit.form.get("password") ?? "" };
    const { user } = await call(visit.ctx, usersApi.modify, { params: { id: visit.ctx.user.id }, body }).catch(
      (error: unknown) => {
        // The API refuses the request as a whole; here that means a wrong current password.
        if (error instanceof ApiError && error.message === permissionDenied().message)
          throw new ApiError(error.status, error.message, [
            { name: "password", reason: "is not your current password" },
          ]);
        throw error;
      },
    );
    return { to: `/profile?status=${user.email === email.toLowerCase() ? "email" : "email_mailed"}` };
  });
};

/** Ends one of the viewer's own sessions, or deletes an API token. */
export async function endSession(visit: Visit): Promise<Answer> {
  const id = visit.params.id ?? "";
  const { sessions } = await call(visit.ctx, sessionsApi.listOfUser, { params: { id: visit.ctx.user.id } });
  if (!sessions.some(({ session_id }) => String(session_id) === id)) throw notFound("session", id);
  await call(visit.ctx, sessionsApi.delete, { params: { id } });
  return { to: "/profile?status=ended" };
}

async function refusable(visit: Visit, of: Form, input: string, act: () => Promise<Answer>) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 401) throw error;
    return profile(visit, { error, of, input });
  }
}

async function profile(visit: Visit, outcome: FormOutcome): Promise<PageContent> {
  const { ctx, url } = visit;
  const [{ user }, { sessions }] = await Promise.all([
    call(ctx, usersApi.me),
    call(ctx, sessionsApi.listOfUser, { params: { id: ctx.user.id } }),
  ]);
  const status = url.searchParams.get("status") ?? "";
  const { createdToken, error } = outcome;
  const isMailed = await mailConfigured(ctx);
  return {
    title: "My account",
    script: createdToken !== undefined,
    ...(error === undefined ? {} : { status: error.status }),
    ...(error?.retryAfter ? { retryAfter: error.retryAfter } : {}),
    body: html`<h1>My account</h1>
${error === undefined && createdToken === undefined && Object.hasOwn(done, status) && good(done[status]!)}
${createdToken !== undefined && createdTokenCard(createdToken)}
<div class="grid"><div class="stack">${whoCard(user)}${!user.sso_enabled && passwordCard(visit, outcome)}</div>
<div class="stack">${tokenCard(visit, outcome)}${!user.sso_enabled && emailCard(visit, outcome, isMailed)}</div></div>
${rowsCard(
  ctx,
  visit.csrf(),
  "API tokens",
  "tokens",
  sessions.filter(({ kind }) => kind === "token"),
)}
${rowsCard(
  ctx,
  visit.csrf(),
  "Sessions",
  "sessions",
  sessions.filter(({ kind }) => kind === "session"),
)}`,
  };
}

const createdTokenCard = ({
  token,
  name,
  expires_at,
}: CreatedToken): Html => html`<section class="card" aria-labelledby="made">
<h2 id="made">Your new API token</h2>
<div class="message good" role="status"><p>Copy it now: it is shown only once.</p></div>
<code class="token" id="new-token">${token}</code>
<p><button type="button" class="plain" data-copy="new-token" data-status="copied" hidden>Copy</button> <span id="copied" role="status"></span></p>
<p class="small quiet">${name}, valid until ${moment(expires_at)}. Programs send it as <code>Authorization: Bearer</code>; <code>svc login --token-stdin</code> saves it for the command line.</p></section>`;

function whoCard(user: User): Html {
  const roles =
    user.global_role ??
    (user.teams.length > 0 &&
      html`${user.teams.map(({ name, role }, at) => html`${at > 0 && ", "}${role} of ${name}`)}`);
  return html`<section class="card" aria-labelledby="who"><h2 id="who">${user.name}</h2>${facts([
    ["Email", user.email],
    ["Position", user.position],
    [user.global_role === null ? "Team roles" : "Role", roles || "none"],
    ["Signs in with", user.sso_enabled ? "single sign-on" : user.mfa_enabled ? "password and mailed link" : "password"],
    ["Account since", moment(user.created_at)],
  ])}</section>`;
}

const wrongField = ({ error, of }: FormOutcome, form: FormOutcome["of"], name: string): string | undefined => {
  const fieldError = of === form ? error?.errors.find((candidate) => candidate.name === name) : undefined;
  return fieldError && `${fieldError.reason.charAt(0).toUpperCase()}${fieldError.reason.slice(1)}.`;
};
/** The error of the form if it belongs to none of its fields. */
const wrongForm = (outcome: FormOutcome, form: FormOutcome["of"], names: readonly string[]): Html | false =>
  outcome.error !== undefined &&
  outcome.of === form &&
  !names.some((name) => wrongField(outcome, form, name)) &&
  alert(errorSentence(outcome.error));

const tokenCard = (
  visit: Visit,
  outcome: FormOutcome,
): Html => html`<section class="card" aria-labelledby="token"><h2 id="token">Get API token</h2>
<p class="small quiet">For programs and the command line. It has the same rights as you.</p>
${wrongForm(outcome, "token", ["name"])}
<form method="post" action="/profile/tokens">${visit.csrf()}
${field({ name: "name", label: "Name", value: outcome.of === "token" ? outcome.input : "", max: 100, hint: "purpose of the token", wrong: wrongField(outcome, "token", "name") })}
${select("expires_in", "Expires after", "90d", lifetimes)}
<button>Get API token</button></form></section>`;

const emailCard = (
  visit: Visit,
  outcome: FormOutcome,
  isMailed: boolean,
): Html => html`<section class="card" aria-labelledby="email"><h2 id="email">Change email</h2>
${wrongForm(outcome, "email", ["email", "password"])}
<form method="post" action="/profile/email">${visit.csrf()}
${field({ name: "email", label: "New email", type: "email", value: outcome.of === "email" ? outcome.input : "", autocomplete: "off", hint: isMailed ? "a link to confirm it is sent to this address" : "it is changed at once, because this server sends no mail", wrong: wrongField(outcome, "email", "email") })}
${field({ name: "password", label: "Your password", type: "password", autocomplete: "current-password", max: 1024, wrong: wrongField(outcome, "email", "password") })}
<button>Change email</button></form></section>`;

const passwordCard = (
  visit: Visit,
  outcome: FormOutcome,
): Html => html`<section class="card" aria-labelledby="password"><h2 id="password">Change password</h2>
${wrongForm(outcome, "password", ["old_password", "new_password", "new_password_again"])}
<form method="post" action="/profile/password">${visit.csrf()}
${accountField(visit.ctx.user.email)}
${field({ name: "old_password", label: "Current password", type: "password", autocomplete: "current-password", max: 1024, wrong: wrongField(outcome, "password", "old_password") })}
${field({ name: "new_password", label: "New password", type: "password", autocomplete: "new-password", max: 1024, hint: PASSWORD_RULE, wrong: wrongField(outcome, "password", "new_password") })}
${field({ name: "new_password_again", label: "New password again", type: "password", autocomplete: "new-password", max: 1024, wrong: wrongField(outcome, "password", "new_password_again") })}
<button>Change password</button></form></section>`;

export const PASSWORD_RULE = "12 to 48 characters, with a digit and a symbol";

const MOST_ROWS = 100;

/** The current session first, then the most recently used. */
const byUse = (a: Session, b: Session): number =>
  Number(b.current) - Number(a.current) || b.accessed_at.localeCompare(a.accessed_at) || b.session_id - a.session_id;

function rowsCard(ctx: Context, csrf: Html, title: string, id: string, all: readonly Session[]): Html {
  const sessions = [...all].sort(byUse).slice(0, MOST_ROWS);
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${
  sessions.length === 0
    ? html`<p class="quiet">None.</p>`
    : html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table><caption class="hidden">${title}</caption><thead><tr><th scope="col">${id === "tokens" ? "Name" : "Browser or program"}</th><th scope="col">From</th><th scope="col">Last used</th><th scope="col">Expires</th><th scope="col"><span class="hidden">End it</span></th></tr></thead><tbody>
${sessions.map((session) => {
  const name = session.kind === "token" ? session.name : program(session.user_agent);
  return html`<tr><th scope="row">${name}${session.current && html` <span class="badge good">this one</span>`}</th><td>${session.address}</td><td>${when(ctx, isUnused(session) ? null : session.accessed_at)}</td><td>${when(ctx, session.expires_at)}</td>
<td class="act">${!session.current && html`<form method="post" action="/profile/sessions/${session.session_id}/end">${csrf}<button class="danger little">End<span class="hidden"> ${name}</span></button></form>`}</td></tr>`;
})}</tbody></table></div>`
}
${all.length > MOST_ROWS && html`<p class="quiet small">And ${all.length - MOST_ROWS} more, which were used longer ago.</p>`}</section>`;
}

/** A readable name for the program of a user agent. */
function program(userAgent: string): string {
  const browser = [/(Edg)\/(\d+)/, /(Firefox)\/(\d+)/, /(Chrome)\/(\d+)/, /Version\/(\d+).*(Safari)/].find((pattern) =>
    pattern.test(userAgent),
  );
  if (!browser) return userAgent.slice(0, 60) || "unknown";
  const name = ["Edg", "Firefox", "Chrome", "Safari"].find((brand) => userAgent.includes(brand))!;
  const system = ["Windows", "Mac OS X", "Android", "iPhone", "iPad", "Linux"].find((system) =>
    userAgent.includes(system),
  );
  return `${name === "Edg" ? "Edge" : name}${system ? ` on ${system.replace(" OS X", "")}` : ""}`;
}
