// The page of the console: scripts build its content. It contains the session's data, so that the first page needs no
// request for them.
import { usersApi } from "../../../../api/accounts/users.ts";
import type { ConsoleSession } from "../../../../api/console.ts";
import { versionApi } from "../../../../api/settings/version.ts";
import { consolePaths } from "../../../../console/routes.ts";
import { call } from "../call.ts";
import { pageHeaders } from "../headers.ts";
import { Html, html } from "../html.ts";
import { organization } from "../layout.ts";
import type { Answer, Page, PageContent, Visit } from "../page.ts";
import { builtConsole } from "./files.ts";

/** Addresses of pages before there was the console, which links and bookmarks still have. */
const moved = { "/activities": "/activity", "/vulnerabilities": "/software?tab=vulnerabilities" };

/** The pages of the console, and its session for a page that has been open while the browser signed in again. */
export const consolePages: readonly Page[] = [
  ...consolePaths.map((path): Page => ({ method: "GET", path, access: "user", answer: consolePage })),
  { method: "GET", path: "/session", access: "user", answer: sessionReply },
  ...Object.entries(moved).map(
    ([path, to]): Page => ({ method: "GET", path, access: "user", answer: async () => ({ to }) }),
  ),
];

async function sessionReply(visit: Visit): Promise<Response> {
  const headers = { ...pageHeaders(), "content-type": "application/json; charset=utf-8" };
  return new Response(dataBlock(await sessionOf(visit)).text, { headers });
}

async function consolePage(visit: Visit): Promise<Answer> {
  const { ctx } = visit;
  const files = ctx.settings.console ? await ctx.running.of(builtConsole).files() : null;
  if (files === null) return withoutConsole(ctx.settings.console);
  const session = await sessionOf(visit);
  const nonce = ctx.random.token(16);
  // In the first bytes, so that no page is painted in other colours or with rows of another height.
  const { theme = "system", density = "normal" } = session.settings?.console ?? {};
  const text = html`<!doctype html>
<html lang="en" data-theme="${theme}" data-density="${density}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta property="csp-nonce" nonce="${nonce}">
<title>${session.organization.name}</title>
<link rel="icon" href="data:,">
${files.styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${files.preloads.map((path) => html`<link rel="modulepreload" href="${path}">`)}
<script type="module" src="${files.script}"></script>
<script type="application/json" id="session">${dataBlock(session)}</script>
</head>
<body>
<div id="console"></div>
<noscript><p>The console needs JavaScript. Everything that it can do, the command line can do as well: <code>svc --help</code>.</p></noscript>
</body>
</html>
`.text;
  return new Response(text, { headers: { ...pageHeaders(), "content-security-policy": policy(nonce) } });
}

async function sessionOf({ ctx, formToken }: Visit): Promise<ConsoleSession> {
  const { user, available_teams, settings } = await call(ctx, usersApi.me, { query: { include_ui_settings: true } });
  const { version } = await call(ctx, versionApi.get);
  const { gitops } = await ctx.config.current();
  return {
    form_token: formToken(),
    user,
    available_teams,
    settings: settings ?? null,
    tier: ctx.license.tier,
    version,
    gitops,
    organization: await organization(ctx),
  };
}

/** JSON that no text in it can end, as `</script>` would. */
const dataBlock = (session: ConsoleSession): Html => new Html(JSON.stringify(session).replaceAll("<", "\\u003c"));

/** Styles that scripts insert, of menus and of the editor, have the nonce. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: https:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

const withoutConsole = (isOn: boolean): PageContent => ({
  title: "No console here",
  status: 404,
  body: html`<div class="card"><h1>No console here</h1>
<p>${
    isOn
      ? html`This server runs without the console, because it was not built: <code>npm run build</code> builds it.`
      : html`The console is turned off on this server (<code>SVC_CONSOLE</code>).`
  } The command line can do everything that it would: <code>svc hosts list</code>, <code>svc --help</code>.</p></div>`,
});
