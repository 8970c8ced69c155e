// The first set-up: a form that creates the first administrator. From another machine it needs the set-up token, so that a
// stranger cannot take over a new server.
import { setupApi } from "../../../../api/settings/setup.ts";
import { ApiError, invalid } from "../../../platform/core/errors.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { needsSetupToken } from "../../../settings/setup/caller.ts";
import { hasUsers } from "../../../settings/setup/service.ts";
import { call } from "../call.ts";
import { errorSentence } from "../error-page.ts";
import { html } from "../html.ts";
import type { Answer, PageContent, Visit } from "../page.ts";
import { alert, field, PASSWORD_RULE } from "../parts.ts";
import { signInPage } from "../sign-in.ts";

export const SETUP_PAGE = "/setup";
/** What is left to do, in the console. */
const WELCOME_PAGE = "/welcome";

export const openSetupPage = async (visit: Visit): Promise<Answer> =>
  (await hasUsers(visit.ctx)) ? { to: "/" } : setupPage(visit);

/** Creates the administrator, and signs the browser in. */
export async function createFirstAdminPage(visit: Visit): Promise<Answer> {
  const { ctx, form } = visit;
  const text = (name: string) => form.get(name) ?? "";
  const token = text("setup_token").trim();
  if (text("password") !== text("password_again"))
    return setupPage(visit, invalid("password", "the passwords must match"));
  const body = {
    admin: {
      name: text("name"),
      email: text("email"),
      password: text("password"),
    },
    org_info: { org_name: text("org_name") },
    server_url: text("server_url"),
    ...(token === "" ? {} : { setup_token: token }),
  };
  try {
    const reply = await call(ctx, setupApi.run, { body });
    return await signInPage(ctx, reply.token, WELCOME_PAGE);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    // Another browser, or `svc setup`, was faster.
    if (error.status === 409) return { to: "/login" };
    return setupPage(visit, error);
  }
}

export async function setupPage(visit: Visit, refused?: ApiError): Promise<PageContent> {
  const { ctx, form, url } = visit;
  const server = (await serverUrl(ctx)) || url.origin;
  const isToken = refused?.status === 403;
  const entered = (name: string, preset = "") => form.get(name) ?? preset;
  return {
    title: "Set up",
    shape: "narrow",
    ...(refused === undefined ? {} : { status: refused.status }),
    body: html`<div class="card"><h1>Set up this server</h1>
<p>It has no users yet. Create the first administrator here, or on the machine that the server runs on with:</p>
<p class="token"><code>svc setup --server-url ${server} --email you@example.com</code></p>
${refused !== undefined && !isToken && alert(errorSentence(refused))}
<form method="post" action="${SETUP_PAGE}">${visit.csrf()}
${
  needsSetupToken(ctx) &&
  field({
    name: "setup_token",
    label: "Set-up token",
    autocomplete: "off",
    hint: "svc serve printed it when it started",
    wrong: isToken ? "This is not the token that the server printed when it started." : undefined,
  })
}
${field({ name: "name", label: "Your name", value: entered("name"), autocomplete: "name" })}
${field({ name: "email", label: "Email", type: "email", value: entered("email"), autocomplete: "username" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "new-password", max: 1024, hint: PASSWORD_RULE })}
${field({ name: "password_again", label: "Password again", type: "password", autocomplete: "new-password", max: 1024 })}
${field({ name: "org_name", label: "Organization", value: entered("org_name"), autocomplete: "organization", required: false })}
${field({ name: "server_url", label: "Address of this server", value: entered("server_url", server), max: 2048, hint: "agents and browsers use it" })}
<button>Create the administrator</button></form></div>`,
  };
}
