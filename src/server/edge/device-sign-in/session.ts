// Sessions of browsers on the pages of devices: they begin with a sign-in with the identity provider.

import { SSO_SECONDS, sentCookie } from "../../accounts/sso/session.ts";
import { hours, isoAt, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { and, eq, gt, lt, lte, oneOf } from "../../platform/store/query.ts";

const DEVICE_COOKIE = "__Host-SVC_DESKTOP_SESSION";
/** A working day: the agent's token, which the page needs as well, is replaced every hour. */
const SESSION_LIFETIME_MS = hours(12);

/** The header that sets the cookie of a new session. */
export async function openDeviceSession(
  { store, clock, random }: Pick<Context, "store" | "clock" | "random">,
  hostId: number,
): Promise<string> {
  const value = random.token(32);
  await store.deviceSessions.insert({
    created_at: clock.iso(),
    cookie_hash: tokenHash(value),
    host_id: hostId,
    expires_at: isoAt(clock.now() + SESSION_LIFETIME_MS),
  });
  // Lax instead of Strict: the browser comes from the identity provider, and later from links of the desktop app.
  return `${DEVICE_COOKIE}=${value}; Max-Age=${SESSION_LIFETIME_MS / 1000}; Path=/; HttpOnly; Secure; SameSite=Lax`;
}

/** Whether somebody has signed in on the page of this host with the browser of the request. */
export async function hasDeviceSession(
  { store, clock, headers }: Pick<Context, "store" | "clock" | "headers">,
  hostId: number,
): Promise<boolean> {
  const cookie = sentCookie(headers?.get("cookie") ?? null, DEVICE_COOKIE);
  if (cookie === null) return false;
  const where = and(eq("cookie_hash", tokenHash(cookie)), eq("host_id", hostId), gt("expires_at", clock.iso()));
  return (await store.deviceSessions.first({ where })) !== null;
}

/** The hosts belong to somebody else now. */
export async function endDeviceSessions({ store }: Pick<Context, "store">, hostIds: readonly number[]): Promise<void> {
  await store.deviceSignIns.delete(oneOf("host_id", hostIds));
  await store.deviceSessions.delete(oneOf("host_id", hostIds));
}

/** Deletes unfinished sign-ins, and sessions that have ended. */
export const deviceSessionCleanup: Job = {
  name: "device_sessions",
  every: minutes(5),
  async run({ store, clock }) {
    await store.deviceSignIns.delete(lt("created_at", isoAt(clock.now() - SSO_SECONDS * 1000)));
    await store.deviceSessions.delete(lte("expires_at", clock.iso()));
  },
};
