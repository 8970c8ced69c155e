// Converts a browser's request to a page, and the page to a response.
import type { H3Event } from "h3";
import { authenticate } from "../../accounts/sessions/auth.ts";
import { type Context, nobody, type Services, type Viewer } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { bodyRoom } from "../../platform/core/http/body-room.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { callerOf } from "../../platform/core/http/proxies.ts";
import { proved, strangerCost } from "../../platform/core/http/strangers.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { hasUsers } from "../../settings/setup/service.ts";
import { viewerOfSession } from "./browser-session.ts";
import { cookieJar, readCookie, setCookie } from "./cookies.ts";
import { errorPage, linkEndedPage } from "./error-page.ts";
import { cameFromElsewhere, FORM_FIELD, formKey, formRefused, readForm, rightToken, tokenOf } from "./forms.ts";
import { pageHeaders } from "./headers.ts";
import { type Html, html } from "./html.ts";
import { layout, organization, type Part } from "./layout.ts";
import type { Answer, Page, PageContent, Visit } from "./page.ts";
import { setupPage } from "./pages/first-admin-page.ts";

/** Handles a request for a page. `asError` logs unexpected exceptions and converts them to an error. */
export async function answerPage(
  services: Services,
  page: Page,
  event: H3Event,
  asError: (thrown: unknown) => ApiError,
): Promise<Response> {
  const caller = callerOf(services, event.req.ip ?? "", event.req.headers);
  const cost = strangerCost(services, caller);
  cost.isFor(page.purpose ?? "other");
  const ctx: Context = {
    ...services,
    user: nobody,
    ...caller,
    cost,
    requestId: services.random.uuid(),
    headers: event.req.headers,
  };
  event.context.requestId = ctx.requestId;
  const started = performance.now();
  const cookies: string[] = [];
  let visit: Visit | undefined;
  let answer: Answer;
  try {
    visit = await visitOf(services, ctx, page, event, cookies);
    answer = (await refusal(visit, page)) ?? (await page.answer(visit));
  } catch (thrown) {
    const error = asError(thrown);
    if (error.status === 401 && page.path.startsWith("/device/")) answer = linkEndedPage();
    else if (error.status === 401 && page.access !== "open") answer = signInFirst(page, event.url);
    else
      answer = errorPage(error, {
        signedIn: isSignedIn(visit),
        reference: ctx.requestId,
        back: formPath(page, event.url),
      });
  }
  const response = await respond(visit, ctx, page, answer);
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  count(services, page, response.status, started);
  return response;
}

/** Determines the viewer from the cookies. */
async function visitOf(
  services: Services,
  ctx: Context,
  page: Page,
  event: H3Event,
  cookies: string[],
): Promise<Visit> {
  const jar = await cookieJar(ctx);
  const header = event.req.headers.get("cookie");
  const token = readCookie(header, jar.session);
  const user = token === null ? null : await viewerOfSession(services, token);
  if (user !== null) proved(ctx);
  // Whoever has the link to a device's page is not a stranger, which is found out later; GET has no form.
  else if (page.method === "GET") ctx.cost?.accept();
  else ctx.cost?.admit();
  const session = user === null ? null : token;
  const key = await ctx.running.of(formKey).get();
  const formCookie = readCookie(header, jar.form);
  const room = ctx.running.of(bodyRoom);
  const form =
    page.method === "GET" || page.isOneClick
      ? new URLSearchParams()
      : await readForm(event.req, {
          room,
          sender: user ? { trust: "proved", name: `user ${user.id}` } : room.byAddress(ctx.address),
        });
  // A viewer whose session has ended is asked to sign in again, so the form need not be checked.
  if (page.method !== "GET" && !page.isOneClick && (page.access === "open" || session !== null))
    await checkForm(ctx, event.req, form, expectedToken(key, session, formCookie));
  let ownCookie = formCookie;
  const formToken = () => {
    if (session === null && ownCookie === null) {
      ownCookie = ctx.random.token(32);
      cookies.push(setCookie(jar, jar.form, ownCookie));
    }
    return expectedToken(key, session, ownCookie) ?? "";
  };
  return {
    ctx: { ...ctx, user: user ?? nobody },
    jar,
    url: event.url,
    params: decoded(event.context.params ?? {}),
    form,
    session,
    whose: (other) => authenticate(services, `Bearer ${other}`),
    formToken,
    csrf: () => html`<input type="hidden" name="${FORM_FIELD}" value="${formToken()}">`,
    sendCookie: (cookie) => void cookies.push(cookie),
  };
}

const expectedToken = (key: string, session: string | null, formCookie: string | null): string | null => {
  if (session !== null) return tokenOf(key, "session", session);
  return formCookie === null ? null : tokenOf(key, "form", formCookie);
};

async function checkForm(
  ctx: Context,
  request: Request,
  form: URLSearchParams,
  expected: string | null,
): Promise<void> {
  const url = await serverUrl(ctx);
  if (cameFromElsewhere(request, url)) throw formRefused("it was sent from a page of another site");
  if (expected === null)
    throw formRefused(
      `your browser did not send a cookie; allow cookies, open ${url || "this server"} at its own address, and try again`,
    );
  if (!rightToken(form.get(FORM_FIELD) ?? "", expected))
    throw formRefused("the page with the form is outdated; open it again and repeat your input");
}

function decoded(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return [name, value];
      }
    }),
  );
}

/** The reply that replaces a page for signed-in users, if the viewer may not open it yet. */
async function refusal(visit: Visit, page: Page): Promise<Answer | null> {
  const { ctx, session, url } = visit;
  if (page.access === "open") return null;
  if (session === null) return page.path === "/" && !(await hasUsers(ctx)) ? setupPage(visit) : signInFirst(page, url);
  return ctx.user.force_password_reset && page.access !== "reset" ? { to: "/login/new-password" } : null;
}

/**
 * Asks the viewer to sign in and then returns to the page. A posted form is lost, so it returns to the form's page.
 */
const signInFirst = (page: Page, url: URL): Answer => {
  const next = page.method === "GET" ? url.pathname + url.search : (formPath(page, url) ?? page.part ?? "/");
  return { to: next === "/" ? "/login" : `/login?next=${encodeURIComponent(next)}` };
};

/** The path of the page that the posted form was on, from the path of the form alone. Null: it is unknown. */
const formPath = ({ form }: Page, { pathname }: URL): string | null =>
  form === undefined ? null : pathname.split("/").slice(0, form.split("/").length).join("/");

/** The console sections that the viewer may use. */
function partsOf(user: Viewer): Part[] {
  const hosts = maySomewhere(user, "hosts:list");
  return [
    { path: "/", name: "Dashboard" },
    ...(hosts ? [{ path: "/hosts", name: "Hosts" }] : []),
    ...(maySomewhere(user, "software:list") ? [{ path: "/software", name: "Software" }] : []),
    ...(user.global_role !== null && maySomewhere(user, "activities:list")
      ? [{ path: "/activity", name: "Activity" }]
      : []),
  ];
}

const isSignedIn = (visit: Visit | undefined): boolean =>
  visit !== undefined && visit.session !== null && !visit.ctx.user.force_password_reset;

async function respond(visit: Visit | undefined, ctx: Context, page: Page, answer: Answer): Promise<Response> {
  if (answer instanceof Response) return answer;
  if ("to" in answer) {
    const { "content-type": _type, ...headers } = pageHeaders();
    return new Response(null, { status: 303, headers: { ...headers, location: answer.to } });
  }
  const menu =
    visit !== undefined && isSignedIn(visit)
      ? { name: visit.ctx.user.name, csrf: visit.csrf(), parts: partsOf(visit.ctx.user) }
      : undefined;
  return shown(ctx, answer, menu, page.part);
}

type Menu = { readonly name: string; readonly csrf: Html; readonly parts: readonly Part[] };

async function shown(
  ctx: Pick<Context, "config" | "settings">,
  answer: PageContent,
  menu?: Menu,
  part?: string,
): Promise<Response> {
  const { status = 200, retryAfter, ...frame } = answer;
  const text = layout(
    { ...frame, ...(menu === undefined ? {} : { menu }), ...(part === undefined ? {} : { part }) },
    await organization(ctx),
  );
  const headers = new Headers(pageHeaders());
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  return new Response(text, { status, headers });
}

/** Pages are counted under names of their own, because some paths are also paths of the API. */
function count({ metrics }: Services, { method, path }: Page, status: number, started: number): void {
  const route = `page ${path}`;
  metrics.requests.inc({ method, route, status: String(status) });
  metrics.requestSeconds.observe({ method, route }, (performance.now() - started) / 1000);
}

/** The reply to browsers for unknown paths. */
export const missingPage = (services: Services): Promise<Response> =>
  shown(services, errorPage(new ApiError(404, "This page does not exist")));
