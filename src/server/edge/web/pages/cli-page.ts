// The page that `svc login --sso` opens. It asks the user before it issues a code, so that following a link alone
// gives no access.

import { serviceProvider } from "../../../accounts/sso/addresses.ts";
import { issueCliCode } from "../../../accounts/sso/cli-code.ts";
import { ssoInfo, startSso } from "../../../accounts/sso/start.ts";
import { html } from "../html.ts";
import type { Answer, Page, PageContent, Visit } from "../page.ts";

const PATH = "/cli-login";

interface LoginRequest {
  readonly port: string;
  readonly challenge: string;
  readonly state: string;
}

/** Null unless the address has the form that the command line creates. */
function loginIn(params: URLSearchParams): LoginRequest | null {
  const [port, challenge, state] = ["port", "challenge", "state"].map((name) => params.get(name) ?? "");
  const isRight =
    /^[1-9]\d{3,4}$/.test(port!) &&
    Number(port) >= 1024 &&
    Number(port) <= 65_535 &&
    /^[\w-]{43}$/.test(challenge!) &&
    /^[\w-]{16,128}$/.test(state!);
  return isRight ? { port: port!, challenge: challenge!, state: state! } : null;
}

const queryOf = ({ port, challenge, state }: LoginRequest): string =>
  String(new URLSearchParams({ port, challenge, state }));

async function ask(visit: Visit): Promise<Answer> {
  const { ctx, url } = visit;
  const login = loginIn(url.searchParams);
  if (!login) return notUnderstood;
  if (visit.session === null) return signInFirst(visit, login);
  if (ctx.user.force_password_reset) return { to: "/login/new-password" };
  const hidden = Object.entries(login).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return {
    title: "Sign in svc",
    shape: "narrow",
    body: html`<div class="card"><h1>Sign in svc on this computer?</h1>
<p>The command line on this computer asks to work as <strong>${ctx.user.email}</strong>.</p>
<p>Go on only if you have just started <code>svc login --sso</code> yourself.</p>
<form method="post" action="${PATH}">${visit.csrf()}${hidden}
<button>Sign in svc on this computer</button></form>
<p class="small"><a href="${loopback(login.port, { error: "access_denied", state: login.state })}">Cancel</a></p></div>`,
  };
}

/** The address on which the command line listens (RFC 8252, 7.3). */
const loopback = (port: string, answer: Record<string, string>): string =>
  `http://127.0.0.1:${port}/?${new URLSearchParams(answer)}`;

/**
 * Redirects to the identity provider at once if the command line requested it. Only once, because the browser may not
 * keep cookies.
 */
async function signInFirst({ ctx, url, sendCookie }: Visit, login: LoginRequest): Promise<Answer> {
  const back = `${PATH}?${queryOf(login)}`;
  if (url.searchParams.get("sso") !== "1" || !(await ssoInfo(ctx)).sso_enabled)
    return { to: `/login?next=${encodeURIComponent(back)}` };
  // The identity provider redirects to the public URL, so the cookie must be set for that host.
  const { sso_settings: sso } = await ctx.config.current();
  const here = await serviceProvider(ctx, sso);
  if (here && new URL(here.url).host !== url.host && url.searchParams.get("moved") !== "1")
    return moved(`${here.url}${back}&sso=1&moved=1`, "To this server's own address");
  const begun = await startSso(ctx, back);
  sendCookie(begun.cookie);
  return moved(begun.url, "To your identity provider");
}

async function handOver({ ctx, form }: Visit): Promise<Answer> {
  const login = loginIn(form);
  if (!login) return notUnderstood;
  const code = await issueCliCode(ctx, ctx.user.id, login.challenge);
  return moved(loopback(login.port, { code, state: login.state }), "Back to the command line");
}

/** Uses a page instead of a redirect, which `form-action` would have to allow. */
const moved = (to: string, title: string): PageContent => ({
  title,
  shape: "narrow",
  moveTo: to,
  body: html`<div class="card"><h1>${title}</h1><p><a class="button" href="${to}">Go on</a></p></div>`,
});

const notUnderstood: PageContent = {
  title: "Sign in svc",
  status: 400,
  shape: "narrow",
  body: html`<div class="card"><h1>This address is not whole</h1>
<p>Start <code>svc login --sso</code> again, and open the address that it shows.</p></div>`,
};

export const cliPages: readonly Page[] = [
  { method: "GET", path: PATH, purpose: "sign-in", access: "open", answer: ask },
  { method: "POST", path: PATH, access: "user", answer: handOver },
];
