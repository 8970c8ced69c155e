// A sign-in in progress, between POST /sso and its callback: the browser has a cookie, the store has its state.
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { and, eq, gt } from "../../platform/store/query.ts";

const SSO_COOKIE = "__Host-SVCSSOSESSIONID";
export const SSO_SECONDS = 300;

// The callback is a cross-site POST from the identity provider: browsers send only cookies with SameSite=None.
const attributes = "Path=/; HttpOnly; Secure; SameSite=None";
export const ssoCookie = (value: string, seconds: number): string =>
  `${SSO_COOKIE}=${value}; Max-Age=${seconds}; ${attributes}`;
export const endedCookie = `${SSO_COOKIE}=; Max-Age=0; ${attributes}`;

/** Stores the sign-in and returns the header that sets its cookie. */
export async function beginSession(
  { store, clock, random }: Pick<Context, "store" | "clock" | "random">,
  request: { requestId: string; relayUrl: string },
): Promise<string> {
  const value = random.token(32);
  await store.ssoSessions.insert({
    cookie_hash: tokenHash(value),
    request_id: request.requestId,
    relay_url: request.relayUrl,
    created_at: clock.iso(),
  });
  return ssoCookie(value, SSO_SECONDS);
}

/** The cookie's value in the request, which may be wrong. Null if there is none. */
export function sentCookie(header: string | null, called = SSO_COOKIE): string | null {
  for (const part of (header ?? "").split(";")) {
    const [name = "", ...value] = part.split("=");
    if (name.trim() === called && value.join("=").trim() !== "") return value.join("=").trim();
  }
  return null;
}

/** Uses the sign-in up: only the first callback with the cookie gets it, and only before it expires. */
export async function takeSession(
  { store, clock }: Pick<Context, "store" | "clock">,
  cookie: string,
): Promise<{ request_id: string; relay_url: string } | null> {
  const ofCookie = eq("cookie_hash", tokenHash(cookie));
  const since = isoAt(clock.now() - seconds(SSO_SECONDS));
  const where = and(ofCookie, eq("used", false), gt("created_at", since));
  if ((await store.ssoSessions.update({ where, set: { used: true } })) === 0) return null;
  return store.ssoSessions.first({ where: ofCookie });
}
