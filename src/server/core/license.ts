// License keys: signed JWTs (RFC 7519), checked offline.
import { createPublicKey, type KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { z } from "zod";
import type { License } from "../../api/app-config.ts";
import { type Clock, days, isoAt } from "./clock.ts";
import type { Settings } from "./settings.ts";
import { BadSetting } from "./tls.ts";

/** What keys are signed with, unless `license_public_key` says otherwise. */
const builtInKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAfzWBRmxZdb/D1K+/oiUZf3hei0a1i3KfQC9fzCxrPmY=
-----END PUBLIC KEY-----`;

const ISSUER = "svc";

const Claims = z.object({
  iss: z.literal(ISSUER),
  /** The organization. */
  sub: z.string().min(1).max(255),
  tier: z.literal("premium").default("premium"),
  /** Hosts that the license is for. */
  devices: z.int().min(0),
  /** Seconds since 1970. */
  exp: z.int().positive().max(253_402_300_799),
  nbf: z.int().optional(),
  note: z.string().max(1000).optional(),
});

/**
 * The license that the settings give. An expired one stays premium (every reply says that it has expired); a key that does
 * not verify stops the start rather than silently making the server a free one.
 */
export async function readLicense(
  settings: Pick<Settings, "license_key" | "license_public_key" | "dev_license">,
  clock: Pick<Clock, "now">,
): Promise<License> {
  if (settings.license_key !== undefined && settings.license_key.trim() !== "")
    return verified(settings.license_key.trim(), publicKey(settings.license_public_key ?? builtInKey), clock);
  if (!settings.dev_license) return { tier: "free", expiration: "2100-01-01T00:00:00.000Z" };
  return {
    tier: "premium",
    expiration: isoAt(clock.now() + days(365)),
    organization: "development",
    device_count: 1_000_000,
    note: "development license: not for production use",
  };
}

async function verified(token: string, key: KeyObject, clock: Pick<Clock, "now">): Promise<License> {
  // The key decides the algorithm, never the token's own header.
  const algorithm = key.asymmetricKeyType === "ed25519" ? "EdDSA" : "ES256";
  const payload = await compactVerify(token, key, { algorithms: [algorithm] }).then(
    (result) => new TextDecoder().decode(result.payload),
    () => {
      throw new BadSetting("license_key is not signed by the key that this server trusts, or is damaged");
    },
  );
  const claims = Claims.safeParse(parse(payload));
  if (!claims.success) {
    const { path, message } = claims.error.issues[0]!;
    throw new BadSetting(`license_key is signed, but its claim ${path.join(".") || "set"} is wrong: ${message}`);
  }
  const { sub, tier, devices, exp, nbf, note } = claims.data;
  if (nbf !== undefined && nbf * 1000 > clock.now())
    throw new BadSetting(`license_key is valid only from ${isoAt(nbf * 1000)}`);
  return {
    tier,
    expiration: isoAt(exp * 1000),
    organization: sub,
    device_count: devices,
    ...(note === undefined ? {} : { note }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function publicKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    // Where a setting cannot hold line breaks, they are written as \n.
    key = createPublicKey(pem.replaceAll("\\n", "\n"));
  } catch {
    throw new BadSetting("license_public_key is not a public key in PEM form");
  }
  const p256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
  if (key.asymmetricKeyType !== "ed25519" && !p256)
    throw new BadSetting("license_public_key must be an Ed25519 or P-256 key");
  return key;
}
