// The sign-in of a device's user on its page: the identity provider of end users confirms who it is.
import { mdmSsoApi } from "../../../api/devices/apple-enroll.ts";
import { providerAt, type ServiceProvider } from "../../accounts/sso/addresses.ts";
import type { CallbackOutcome } from "../../accounts/sso/device-callbacks.ts";
import { countSsoStep } from "../../accounts/sso/limits.ts";
import { emailOf } from "../../accounts/sso/person.ts";
import { SSO_SECONDS, sentCookie, ssoCookie } from "../../accounts/sso/session.ts";
import { endUserProvider, requestSignIn } from "../../accounts/sso/start.ts";
import { verifiedResponse } from "../../accounts/sso/verify.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { SsoRefusal } from "../../platform/saml/refusal.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { devicePagesUrl } from "../../settings/app-config/device-pages-url.ts";
import { openDeviceSession } from "./session.ts";

/** The callback is the one of sign-ins during enrollment, so that the identity provider knows a single address. */
async function here(ctx: Context, entityId: string): Promise<ServiceProvider | null> {
  const url = await devicePagesUrl(ctx);
  return url === "" ? null : providerAt(url, mdmSsoApi.callback.path, entityId);
}

interface SignInRequest {
  /** Token of the page, which the browser returns to. */
  readonly token: string;
  readonly hostUuid: string | undefined;
}

/** Returns the URL to send the browser to, and the header that sets its cookie. */
export async function startDeviceSignIn(
  ctx: Context,
  host: HostRow,
  { token, hostUuid }: SignInRequest,
): Promise<{ url: string; cookie: string }> {
  const { svc_desktop } = await ctx.config.current();
  if (!svc_desktop.sso_enabled) throw badRequest("single sign-on is not turned on for the pages of devices");
  if (hostUuid !== undefined && hostUuid.toLowerCase() !== host.uuid.toLowerCase())
    throw badRequest("the token belongs to another host", "host_uuid");
  const provider = await endUserProvider(ctx);
  await countSsoStep(ctx, "start", ctx.address);
  const { id, url } = await requestSignIn(ctx, provider, await here(ctx, provider.entity_id));
  // The token is in the cookie only: the store keeps hashes of tokens, which do not lead back to the page.
  const value = `${COOKIE_MARK}${ctx.random.token(32)}.${token}`;
  await ctx.store.deviceSignIns.insert({
    created_at: ctx.clock.iso(),
    cookie_hash: tokenHash(value),
    request_id: id,
    host_id: host.id,
  });
  return { url, cookie: ssoCookie(value, SSO_SECONDS) };
}

/** Distinguishes the cookie from those of other sign-ins, whose values have no dot. */
const COOKIE_MARK = "page.";

/** Processes the identity provider's response. Null if the browser has not begun a sign-in on a device's page. */
export async function finishDeviceSignIn(ctx: Context, field: string): Promise<CallbackOutcome | null> {
  const cookie = sentCookie(ctx.headers?.get("cookie") ?? null);
  if (cookie === null || !cookie.startsWith(COOKIE_MARK)) return null;
  await countSsoStep(ctx, "callback", ctx.address);
  const row = await takeSignIn(ctx, cookie);
  if (!row) return { isExpired: true };
  try {
    const { svc_desktop, mdm } = await ctx.config.current();
    if (!svc_desktop.sso_enabled) throw new SsoRefusal("single sign-on is not turned on for the pages of devices");
    const { end_user_authentication: provider } = mdm;
    const ownAddress = await here(ctx, provider.entity_id);
    const context = { provider, here: ownAddress, requestId: row.request_id };
    const email = emailOf(await verifiedResponse(ctx, context, field));
    ctx.log.info({ host_id: row.host_id, email }, "somebody has signed in on the page of a device");
    const to = `/device/${encodeURIComponent(tokenIn(cookie))}`;
    return { to, cookie: await openDeviceSession(ctx, row.host_id) };
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    ctx.log.warn({ reason: error.message, address: ctx.address }, "a sign-in on the page of a device was refused");
    if (error.isMalformed) throw badRequest(error.message, "SAMLResponse");
    return { isExpired: false };
  }
}

const tokenIn = (cookie: string): string => cookie.split(".").slice(2).join(".");

/** Uses the sign-in up: only the first callback with the cookie gets it, and only before it expires. */
async function takeSignIn({ store, clock }: Context, cookie: string) {
  const ownCookie = eq("cookie_hash", tokenHash(cookie));
  const since = isoAt(clock.now() - SSO_SECONDS * 1000);
  const where = and(ownCookie, eq("used", false), gt("created_at", since));
  if ((await store.deviceSignIns.update({ where, set: { used: true } })) === 0) return null;
  return store.deviceSignIns.first({ where: ownCookie });
}
