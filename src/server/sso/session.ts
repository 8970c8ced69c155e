// A sign-in that began here, between POST /sso and its callback: the browser has a cookie, the store what it stands for.
import { isoAt, seconds } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { tokenHash } from "../core/random.ts";
import { and, eq, gt } from "../store/query.ts";

export const SSO_COOKIE = "__Host-SVCSSOSESSIONID";
export const SSO_SECONDS = 300;

// The callback is posted by a page of the identity provider: only cookies with SameSite=None come with that.
const attributes = "Path=/; HttpOnly; Secure; SameSite=None";
const cookieWith = (value: string): string => `${SSO_COOKIE}=${value}; Max-Age=${SSO_SECONDS}; ${attributes}`;
export const endedCookie = `${SSO_COOKIE}=; Max-Age=0; ${attributes}`;

/** Remembers the sign-in; gives the header that sets its cookie. */
export async function beginSession(
  { store, clock, random }: Pick<Context, "store" | "clock" | "random">,
  given: { requestId: string; relayUrl: string },
): Promise<string> {
  const value = random.token(32);
  await store.ssoSessions.insert({
    cookie_hash: tokenHash(value),
    request_id: given.requestId,
    relay_url: given.relayUrl,
    created_at: clock.iso(),
  });
  return cookieWith(value);
}

/** What the request says of the cookie: none, or a value, which may be one of ours. */
export function sentCookie(header: string | null): string | null {
  for (const part of (header ?? "").split(";")) {
    const [name = "", ...value] = part.split("=");
    if (name.trim() === SSO_COOKIE && value.join("=").trim() !== "") return value.join("=").trim();
  }
  return null;
}

/** Uses the sign-in up: of all callbacks with one cookie the first gets it, and only in its time. */
export async function takeSession(
  { store, clock }: Pick<Context, "store" | "clock">,
  cookie: string,
): Promise<{ request_id: string; relay_url: string } | null> {
  const own = eq("cookie_hash", tokenHash(cookie));
  const since = isoAt(clock.now() - seconds(SSO_SECONDS));
  const where = and(own, eq("used", false), gt("created_at", since));
  if ((await store.ssoSessions.update({ where, set: { used: true } })) === 0) return null;
  return store.ssoSessions.first({ where: own });
}
