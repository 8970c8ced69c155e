// Whether a message is really one of the vendor's topic: the push address has a secret, and each push a token that the
// vendor has signed.
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from "jose";
import { z } from "zod";
import { androidServiceApi } from "../../../../api/android.ts";
import { minutes } from "../../../core/clock.ts";
import type { Context } from "../../../core/context.ts";
import { authenticationFailed, unavailable } from "../../../core/errors.ts";
import { serverUrl } from "../../../core/http/links.ts";
import { fetchVendor, OutboundError } from "../../../core/outbound/fetch.ts";
import { sameText } from "../../../core/random.ts";
import { part } from "../../../core/running.ts";
import { requireAccount } from "../management/account.ts";

const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];
/** Keys are read again when a message names an unknown one, at most this often. */
const READ_EVERY = minutes(1);
const CLOCKS_DIFFER_SECONDS = 60;

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Every server keeps the keys that it has read last. */
const keySets = part("keys of messages about Android devices", () => ({
  readAt: Number.NEGATIVE_INFINITY,
  keys: null as KeySet | null,
}));

/** 401 unless the message is the vendor's. */
export async function checkSender(ctx: Context, token: string): Promise<void> {
  const { android_pubsub_token: secret } = ctx.settings;
  const { email } = requireAccount(ctx);
  const authorization = ctx.headers?.get("authorization") ?? "";
  const jwt = /^Bearer ([\w.-]+)$/i.exec(authorization)?.[1];
  if (secret === undefined || !sameText(token, secret) || jwt === undefined) throw authenticationFailed();
  const verified = (await verify(ctx, jwt, false)) ?? (await verify(ctx, jwt, true));
  if (verified?.email !== email || verified.email_verified !== true) throw authenticationFailed();
}

/** Null: the key is unknown. */
async function verify(ctx: Context, jwt: string, again: boolean) {
  const keys = await keysOf(ctx, again);
  try {
    const { payload } = await jwtVerify(jwt, keys, {
      issuer: ISSUERS,
      audience: `${await serverUrl(ctx)}${androidServiceApi.message.path}`,
      algorithms: ["RS256"],
      currentDate: new Date(ctx.clock.now()),
      clockTolerance: CLOCKS_DIFFER_SECONDS,
      requiredClaims: ["exp"],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return null;
    throw authenticationFailed();
  }
}

async function keysOf(ctx: Context, again: boolean): Promise<KeySet> {
  const known = ctx.running.of(keySets);
  const mayRead = ctx.clock.now() - known.readAt >= READ_EVERY;
  if (known.keys !== null && !(again && mayRead)) return known.keys;
  if (known.keys === null || mayRead) known.readAt = ctx.clock.now();
  try {
    const { status, body } = await fetchVendor(ctx, ctx.settings.google_jwks_url);
    if (status !== 200) throw new OutboundError("unreachable", `the keys could not be read: status ${status}`);
    known.keys = createLocalJWKSet(Keys.parse(JSON.parse(body.toString("utf8"))) as JSONWebKeySet);
    return known.keys;
  } catch (error) {
    ctx.log.warn({ err: error }, "the keys of messages about Android devices could not be read");
    throw unavailable("the keys of the message's sender could not be read");
  }
}
