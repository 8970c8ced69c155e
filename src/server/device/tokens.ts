// The token of a host's own page: set by its agent each hour, shown by its owner's browser and desktop app.
import { createFailureLimit, type FailureLimit } from "../agent/failure-limit.ts";
import { hours } from "../core/clock.ts";
import type { Context, Services } from "../core/context.ts";
import { authenticationRequired, badRequest, conflict, limitExceeded } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import type { HostRow } from "../hosts/access.ts";
import { eq } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";

/** How long a token is good after its last update. */
const LIFETIME = hours(1);
const TOKEN_MAX = 255;
/** What needs no escaping in a URL (RFC 3986, 2.3). */
const URL_SAFE = /^[A-Za-z0-9._~-]+$/;

/** The new token ends the old one at once (agent protocol, section 11). */
export async function setDeviceToken({ store, clock }: Context, hostId: number, token: string): Promise<void> {
  if (token === "") throw badRequest("device_auth_token is required", "device_auth_token");
  if (!URL_SAFE.test(token) || token.length > TOKEN_MAX || /^\.+$/.test(token))
    throw badRequest("device_auth_token must not need escaping in a URL", "device_auth_token");
  const now = clock.iso();
  try {
    await store.tx(async (tx) => {
      await tx.deviceTokens.upsert([{ id: hostId, token_hash: tokenHash(token), updated_at: now }], { on: ["id"] });
      await tx.managedAgents.update({ where: eq("id", hostId), set: { seen_at: now } });
    });
  } catch (error) {
    if (error instanceof UniqueViolation) throw conflict("the token is in use by another host");
    throw error;
  }
}

/**
 * Failed calls of one address within an hour. Of the two limits known (720 an hour; 1,000 within a minute bar the address for a minute)
 * this one always strikes first. A good token is never refused: many hosts share an address.
 */
const FAILURES_AN_HOUR = 720;

const servers = new WeakMap<Services["config"], FailureLimit>();

function failuresOf({ config, clock }: Context): FailureLimit {
  const known = servers.get(config) ?? createFailureLimit(clock, FAILURES_AN_HOUR, hours(1));
  servers.set(config, known);
  return known;
}

/** The host whose token this is: 401 for one that is none, or too old, and 429 after too many of them. */
export async function hostOfToken(ctx: Context, token: string): Promise<HostRow> {
  const { store, clock } = ctx;
  const row =
    token.length > TOKEN_MAX ? null : await store.deviceTokens.first({ where: eq("token_hash", tokenHash(token)) });
  const age = row === null ? Number.POSITIVE_INFINITY : clock.now() - Date.parse(row.updated_at);
  const host = row !== null && age <= LIFETIME ? await store.hosts.get(row.id) : null;
  if (host) return host;
  const wait = failuresOf(ctx).fail(ctx.address);
  throw wait > 0 ? limitExceeded(wait) : authenticationRequired();
}
