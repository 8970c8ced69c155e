// Tokens of device pages: set by the host's agent every hour, sent by its user's browser and desktop app.

import type { HostRow } from "../../hosts/hosts/access.ts";
import { hours } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { authenticationRequired, badRequest, conflict, limitExceeded } from "../../platform/core/errors.ts";
import { proved } from "../../platform/core/http/strangers.ts";
import { limit } from "../../platform/core/limits.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { part } from "../../platform/core/running.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { endDeviceLinks, hostOfLink } from "./links.ts";
import { provenPhone } from "./phones.ts";

/** Validity of a token after its last update. */
const LIFETIME = hours(1);
export const deviceToken = limit({
  what: "token for the page of a device",
  max: 255,
  unit: "characters",
  beyond: "The token is refused with 400.",
});
/** Unreserved characters, which need no escaping in a URL (RFC 3986, 2.3). */
const URL_SAFE = /^[A-Za-z0-9._~-]+$/;

/** Replaces the token; the previous one becomes invalid immediately (docs/protocols/managed-agent.md, Device page). */
export async function setDeviceToken({ store, clock }: Context, hostId: number, token: string): Promise<void> {
  if (token === "") throw badRequest("device_auth_token is required", "device_auth_token");
  if (!URL_SAFE.test(token) || token.length > deviceToken.max || /^\.+$/.test(token))
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
  await endDeviceLinks(store, hostIds);
}

/** Failed calls per address and hour. Valid tokens are never refused, since many hosts may share an address. */
const FAILURES_AN_HOUR = 720;

const failures = part(
  "failures of device tokens",
  (services) => new FailureLimit(services, { scope: "device tokens", most: FAILURES_AN_HOUR, span: hours(1) }),
);

/** The host of a token, or the phone with this hardware UUID. 401 if there is none, 429 after too many of those. */
export async function hostOfToken(ctx: Context, token: string): Promise<HostRow> {
  const hostByHash = token.length > deviceToken.max ? null : await hostOfHash(ctx, tokenHash(token));
  const host = hostByHash ?? (await provenPhone(ctx, token));
  if (host) {
    proved(ctx);
    return host;
  }
  const wait = ctx.running.of(failures).fail(ctx);
  throw wait > 0 ? limitExceeded(wait) : authenticationRequired();
}

async function hostOfHash({ store, clock }: Context, token_hash: string): Promise<HostRow | null> {
  const hasHash = eq("token_hash", token_hash);
  const token = await store.deviceTokens.first({ where: hasHash });
  if (token) return clock.now() - Date.parse(token.updated_at) <= LIFETIME ? store.hosts.get(token.id) : null;
  return hostOfLink({ store, clock }, token_hash);
}
