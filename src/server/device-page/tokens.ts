// Tokens of device pages: set by the host's agent every hour, sent by its user's browser and desktop app.
import { hours } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { authenticationRequired, badRequest, conflict, limitExceeded } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import { part } from "../core/running.ts";
import type { HostRow } from "../hosts/access.ts";
import { createFailureLimit } from "../rate-limits/failures.ts";
import { eq, oneOf } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";

/** Validity of a token after its last update. */
const LIFETIME = hours(1);
const TOKEN_MAX = 255;
/** Unreserved characters, which need no escaping in a URL (RFC 3986, 2.3). */
const URL_SAFE = /^[A-Za-z0-9._~-]+$/;

/** Replaces the token; the previous one becomes invalid immediately (agent protocol, section 11). */
export async function setDeviceToken({ store, clock }: Context, hostId: number, token: string): Promise<void> {
  if (token === "") throw badRequest("device_auth_token is required", "device_auth_token");
  if (!URL_SAFE.test(token) || token.length > TOKEN_MAX || /^\.+$/.test(token))
    throw badRequest("device_auth_token must not need escaping in a URL", "device_auth_token");
  const now = clock.iso();
  try {
    await store.deviceTokens.upsert([{ id: hostId, token_hash: tokenHash(token), updated_at: now }], { on: ["id"] });
  } catch (error) {
    if (error instanceof UniqueViolation) throw conflict("the token is in use by another host");
    throw error;
  }
}

export async function endDeviceTokens({ store }: Pick<Context, "store">, hostIds: readonly number[]): Promise<void> {
  await store.deviceTokens.delete(oneOf("id", hostIds));
}

/**
 * Failed calls per address and hour. The specified second limit (1,000 per minute) can never be reached before this
 * one. Valid tokens are never refused, since many hosts may share an address.
 */
const FAILURES_AN_HOUR = 720;

const failures = part("failures of device tokens", (services) =>
  createFailureLimit(services, { scope: "device tokens", most: FAILURES_AN_HOUR, span: hours(1) }),
);

/** The host of a token: 401 if the token is unknown or expired, 429 after too many of those. */
export async function hostOfToken(ctx: Context, token: string): Promise<HostRow> {
  const { store, clock } = ctx;
  const row =
    token.length > TOKEN_MAX ? null : await store.deviceTokens.first({ where: eq("token_hash", tokenHash(token)) });
  const age = row === null ? Number.POSITIVE_INFINITY : clock.now() - Date.parse(row.updated_at);
  const host = row !== null && age <= LIFETIME ? await store.hosts.get(row.id) : null;
  if (host) return host;
  const wait = ctx.running.of(failures).fail(ctx);
  throw wait > 0 ? limitExceeded(wait) : authenticationRequired();
}
