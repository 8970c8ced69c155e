// Tokens of device pages: set by the host's agent every hour, sent by its user's browser and desktop app.

import { recordActivity } from "../activities/record.ts";
import { hours, isoAt } from "../core/clock.ts";
import { type Context, within } from "../core/context.ts";
import { authenticationRequired, badRequest, conflict, limitExceeded } from "../core/errors.ts";
import { proved } from "../core/http/strangers.ts";
import { limit } from "../core/limits.ts";
import { tokenHash } from "../core/random.ts";
import { part } from "../core/running.ts";
import { may } from "../core/security/access.ts";
import type { ServerTx } from "../core/tables.ts";
import { linkToPages } from "../device-sign-in/address.ts";
import { endDeviceSessions } from "../device-sign-in/session.ts";
import { type HostRow, hostFor } from "../hosts/access.ts";
import { createFailureLimit } from "../rate-limits/failures.ts";
import { viewerOf } from "../sessions/viewer.ts";
import { and, eq, gt, lte, oneOf } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { RowOf } from "../store/table.ts";
import { provenPhone } from "./phones.ts";
import type { deviceLinks } from "./tables.ts";

type LinkRow = RowOf<typeof deviceLinks>;

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

/** Replaces the token; the previous one becomes invalid immediately (agent protocol, section 11). */
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
  await store.deviceLinks.delete(oneOf("host_id", hostIds));
  await endDeviceSessions(store, hostIds);
}

/**
 * Failed calls per address and hour. The specified second limit (1,000 per minute) can never be reached before this
 * one. Valid tokens are never refused, since many hosts may share an address.
 */
const FAILURES_AN_HOUR = 720;

const failures = part("failures of device tokens", (services) =>
  createFailureLimit(services, { scope: "device tokens", most: FAILURES_AN_HOUR, span: hours(1) }),
);

/** The host of a token, or the phone with this hardware UUID. 401 if there is none, 429 after too many of those. */
export async function hostOfToken(ctx: Context, token: string): Promise<HostRow> {
  const known = token.length > deviceToken.max ? null : await hostOfHash(ctx, tokenHash(token));
  const host = known ?? (await provenPhone(ctx, token));
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
  const link = await store.deviceLinks.first({ where: and(hasHash, gt("expires_at", clock.iso())) });
  return link && hostOfLink(store, link);
}

/** Null if the host was transferred, or if whoever has asked for the link may not do so any more. */
async function hostOfLink(store: ServerTx, { host_id, user_id, team_id }: LinkRow): Promise<HostRow | null> {
  const [host, user] = await Promise.all([
    store.hosts.get(host_id),
    user_id === null ? null : store.users.get(user_id),
  ]);
  if (!host || !user || host.team_id !== team_id) return null;
  return may(await viewerOf(store, user, null), LINK_ACTION, host.team_id) ? host : null;
}

/** Whoever may lock a host may see its page. */
const LINK_ACTION = "hosts:lock";

/** A link to the page of a host, for a user of this server: it shows what the host's own user sees, for an hour. */
export async function linkToDevicePage(ctx: Context, id: number): Promise<{ host_id: number; device_url: string }> {
  const { id: host_id, display_name, team_id } = await hostFor(ctx, LINK_ACTION, id);
  const token = ctx.random.token(32);
  await ctx.store.tx(async (store) => {
    await store.deviceLinks.delete(lte("expires_at", ctx.clock.iso()));
    const expires_at = isoAt(ctx.clock.now() + LIFETIME);
    const link = { host_id, user_id: ctx.user.id, team_id, token_hash: tokenHash(token), expires_at };
    await store.deviceLinks.insert(link);
    const details = { host_id, host_display_name: display_name };
    await recordActivity(within(ctx, store), "retrieved_host_my_device_url", details, { hostId: host_id });
  });
  return { host_id, device_url: await linkToPages(ctx, `/device/${token}`) };
}
