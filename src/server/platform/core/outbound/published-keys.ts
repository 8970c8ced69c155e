// Tokens (JWT) that another service signs, with the keys that it publishes (JWKS, RFC 7517).
import { createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { z } from "zod";
import { minutes, seconds } from "../clock.ts";
import type { Context } from "../context.ts";
import { type Part, part } from "../running.ts";
import { fetchVendor, OutboundError } from "./fetch.ts";
import { jsonOf } from "./reply.ts";

/** Keys are read again when a token names an unknown one, at most this often. */
const READ_EVERY = minutes(1);
/** After a failure, they are not asked for again for so long. */
const AFTER_FAILURE = seconds(5);
const CLOCKS_DIFFER_SECONDS = 60;

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
type KeySet = ReturnType<typeof createLocalJWKSet>;

interface CachedKeys {
  readAt: number;
  failedAt: number;
  keys: KeySet | null;
  /** The reading that is going on: strangers must not cause many at a time. */
  reading: Promise<KeySet> | null;
}

type PublishedKeys = Part<CachedKeys>;

/** Every server keeps the keys that it has read last. */
export const publishedKeys = (name: string): PublishedKeys =>
  part(name, () => ({
    readAt: Number.NEGATIVE_INFINITY,
    failedAt: Number.NEGATIVE_INFINITY,
    keys: null,
    reading: null,
  }));

/** The keys cannot be read now. */
export class KeysUnavailable extends Error {}

interface ExpectedToken {
  /** Where the keys are. */
  readonly url: string;
  readonly audience: string | string[];
  readonly issuer: string | string[];
  readonly requiredClaims?: string[];
}

/** What the token says; null if it is not valid now, for this audience, and signed by the issuer (RS256). */
export async function readSigned(
  ctx: Context,
  keys: PublishedKeys,
  token: string,
  expected: ExpectedToken,
): Promise<JWTPayload | null> {
  if (!namesKey(token)) return null;
  for (const again of [false, true]) {
    const set = await keysOf(ctx, keys, expected.url, again);
    try {
      const { payload } = await jwtVerify(token, set, {
        issuer: expected.issuer,
        audience: expected.audience,
        algorithms: ["RS256"],
        currentDate: new Date(ctx.clock.now()),
        clockTolerance: CLOCKS_DIFFER_SECONDS,
        requiredClaims: ["exp", ...(expected.requiredClaims ?? [])],
      });
      return payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) return null;
    }
  }
  return null;
}

/** Tokens name the key that has signed them. */
function namesKey(token: string): boolean {
  try {
    return (decodeProtectedHeader(token).kid ?? "") !== "";
  } catch {
    return false;
  }
}

async function keysOf(ctx: Context, kept: PublishedKeys, url: string, again: boolean): Promise<KeySet> {
  const cached = ctx.running.of(kept);
  const now = ctx.clock.now();
  const mayRead = now - cached.readAt >= READ_EVERY;
  if (cached.keys !== null && !(again && mayRead)) return cached.keys;
  if (cached.reading !== null) return cached.reading;
  if (Math.abs(now - cached.failedAt) < AFTER_FAILURE) throw new KeysUnavailable("the keys could not be read");
  cached.readAt = now;
  cached.reading = readKeys(ctx, url)
    .then((keys) => {
      cached.keys = keys;
      return keys;
    })
    .catch((error: unknown) => {
      cached.failedAt = ctx.clock.now();
      ctx.log.warn({ err: error, keys: kept.name }, "the keys of another service could not be read");
      throw new KeysUnavailable("the keys could not be read");
    })
    .finally(() => {
      cached.reading = null;
    });
  return cached.reading;
}

async function readKeys(ctx: Context, url: string): Promise<KeySet> {
  const reply = await fetchVendor(ctx, url);
  if (reply.status !== 200)
    throw new OutboundError("unreachable", `the keys could not be read: status ${reply.status}`);
  return createLocalJWKSet(Keys.parse(jsonOf(reply)) as JSONWebKeySet);
}
