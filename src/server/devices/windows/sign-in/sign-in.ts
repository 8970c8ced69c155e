// The sign-in of a user who enrolls a device: Windows opens a page of this server, which asks who the user is and shows
// the terms. Only then the device gets its token.
import { mdmSsoApi } from "../../../../api/devices/apple-enroll.ts";
import { providerAt, type ServiceProvider } from "../../../accounts/sso/addresses.ts";
import type { CallbackOutcome } from "../../../accounts/sso/device-callbacks.ts";
import { countSsoStep } from "../../../accounts/sso/limits.ts";
import { emailOf } from "../../../accounts/sso/person.ts";
import { endedCookie, sentCookie, ssoCookie } from "../../../accounts/sso/session.ts";
import { endUserProvider, requestSignIn } from "../../../accounts/sso/start.ts";
import { verifiedResponse } from "../../../accounts/sso/verify.ts";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest, forbiddenFor } from "../../../platform/core/errors.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { tokenHash } from "../../../platform/core/random.ts";
import { SsoRefusal } from "../../../platform/saml/refusal.ts";
import { and, eq, gt } from "../../../platform/store/query.ts";
import { requireWindowsMdm } from "../../gate.ts";
import { tokenFor } from "./token.ts";

/** Windows opens these pages. */
export const SIGN_IN_PAGE = "/api/mdm/windows/auth";
export const TERMS_PAGE = `${SIGN_IN_PAGE}/terms`;
/** Devices of a directory open this one: the directory has signed the user in. */
export const DIRECTORY_TERMS_PAGE = "/api/mdm/windows/tos";

export const SIGN_IN_LIFETIME = minutes(15);

/** An app of the device. A token is sent nowhere else. */
const APP = /^ms-app:\/\/[\w.-]{1,255}\/?$/i;

/** 400 unless the address is one within the device. */
export function returnAddress(address: string | null): string {
  if (address !== null && APP.test(address)) return address;
  throw badRequest("the page has to be opened by Windows, which names an app of the device to return to", "appru");
}

const DIRECTORY_APP = /^(?:ms-appx-web|ms-app|ms-aadj-redir):\/\/[\w.-]{1,255}(?:\/[\w./-]{0,255})?$/i;

/** The return address of devices of a directory. */
export function directoryReturnAddress(address: string | null): string {
  if (address !== null && DIRECTORY_APP.test(address)) return address;
  throw badRequest(
    "the page has to be opened by Windows, which names an app of the device to return to",
    "redirect_uri",
  );
}

/** Whether users of devices sign in with an identity provider; else with an account of this server. */
export async function hasProvider({ config }: Pick<Context, "config">): Promise<boolean> {
  const { end_user_authentication: provider } = (await config.current()).mdm;
  return provider.metadata !== "" || provider.metadata_url !== "";
}

async function here(ctx: Context, entityId: string): Promise<ServiceProvider | null> {
  const url = await serverUrl(ctx);
  return url === "" ? null : providerAt(url, mdmSsoApi.callback.path, entityId);
}

/** Distinguishes the cookie from those of other sign-ins. */
const MARK = "windows.";

/** Returns the URL to send the browser to, and the header that sets its cookie. */
export async function startWindowsSignIn(ctx: Context, returnTo: string): Promise<{ to: string; cookie: string }> {
  await requireWindowsMdm(ctx);
  await countSsoStep(ctx, "start", ctx.address);
  const settings = await endUserProvider(ctx);
  const { id, url } = await requestSignIn(ctx, settings, await here(ctx, settings.entity_id));
  const value = `${MARK}${ctx.random.token(32)}`;
  await ctx.store.windowsSignIns.insert({
    created_at: ctx.clock.iso(),
    cookie_hash: tokenHash(value),
    request_id: id,
    return_to: returnTo,
    ticket_hash: null,
  });
  return { to: url, cookie: ssoCookie(value, SIGN_IN_LIFETIME / 1000) };
}

/** Processes the identity provider's response. Null if the browser has not begun a sign-in to enroll a Windows device. */
export async function finishWindowsSignIn(ctx: Context, field: string): Promise<CallbackOutcome | null> {
  const cookie = sentCookie(ctx.headers?.get("cookie") ?? null);
  if (cookie === null || !cookie.startsWith(MARK)) return null;
  await countSsoStep(ctx, "callback", ctx.address);
  const row = await takeSignIn(ctx, cookie);
  if (!row) return { isExpired: true };
  try {
    const { end_user_authentication: provider } = (await ctx.config.current()).mdm;
    const expected = { provider, here: await here(ctx, provider.entity_id), requestId: row.request_id };
    const email = emailOf(await verifiedResponse(ctx, expected, field));
    const ticket = ctx.random.token(32);
    const set = { email, ticket_hash: tokenHash(ticket) };
    await ctx.store.windowsSignIns.update({ where: eq("id", row.id), set });
    return { to: `${TERMS_PAGE}?${new URLSearchParams({ ticket })}`, cookie: endedCookie };
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    ctx.log.warn({ reason: error.message, address: ctx.address }, "the sign-in of a Windows device's user was refused");
    if (error.isMalformed) throw badRequest(error.message, "SAMLResponse");
    return { isExpired: false };
  }
}

/** Uses the sign-in up: only the first callback with the cookie gets it, and only before it expires. */
async function takeSignIn({ store, clock }: Context, cookie: string) {
  const bySession = eq("cookie_hash", tokenHash(cookie));
  const since = isoAt(clock.now() - SIGN_IN_LIFETIME);
  const where = and(bySession, eq("used", false), gt("created_at", since));
  if ((await store.windowsSignIns.update({ where, set: { used: true } })) === 0) return null;
  return store.windowsSignIns.first({ where: bySession });
}

export interface ForDevice {
  readonly returnTo: string;
  readonly token: string;
}

/** Whether the page with the terms may be shown for the ticket. */
export const isTicket = async (ctx: Context, ticket: string): Promise<boolean> =>
  (await ctx.store.windowsSignIns.count(ticketIs(ctx, ticket))) > 0;

const ticketIs = ({ clock }: Context, ticket: string) =>
  and(eq("ticket_hash", tokenHash(ticket)), gt("created_at", isoAt(clock.now() - SIGN_IN_LIFETIME)));

/** The user has accepted the terms. The ticket gives one token. */
export async function tokenForTicket(ctx: Context, ticket: string): Promise<ForDevice> {
  await requireWindowsMdm(ctx);
  const where = ticketIs(ctx, ticket);
  const row = await ctx.store.windowsSignIns.first({ where });
  // The update decides: of two requests with the same ticket, one gets a token.
  if (!row || (await ctx.store.windowsSignIns.update({ where, set: { ticket_hash: null } })) === 0)
    throw forbiddenFor("the sign-in took too long, or was used before: begin again");
  return { returnTo: row.return_to, token: await tokenFor(ctx, { email: row.email }) };
}

/** The token for a user who has signed in with an account of this server. */
export async function tokenForUser(ctx: Context, returnTo: string): Promise<ForDevice> {
  await requireWindowsMdm(ctx);
  if (await hasProvider(ctx)) throw forbiddenFor("users sign in with the identity provider");
  return { returnTo, token: await tokenFor(ctx, { email: ctx.user.email }) };
}
