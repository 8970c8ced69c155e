// License keys: signed JWTs (RFC 7519), checked offline. The server reads its own by this, and `svc license verify` any.
import { createPublicKey, type KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { z } from "zod";
import type { License } from "../api/app-config.ts";

/** What keys are signed with, unless another public key is given. */
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
  nbf: z.int().min(0).max(253_402_300_799).optional(),
  note: z.string().max(1000).optional(),
});

/** Why a key is none; the text goes on after its name. */
export class LicenseError extends Error {
  readonly of: "key" | "public key";

  constructor(of: "key" | "public key", message: string) {
    super(message);
    this.of = of;
  }
}

export interface Verified {
  readonly license: License;
  /** Before this it does not hold yet. */
  readonly validFrom: string | null;
}

/** What the key says, when it is signed by the public key; whether its time has come or gone is not looked at. */
export async function verifyLicense(token: string, publicKeyPem = builtInKey): Promise<Verified> {
  const key = publicKey(publicKeyPem);
  // The key decides the algorithm, never the token's own header.
  const algorithm = key.asymmetricKeyType === "ed25519" ? "EdDSA" : "ES256";
  const payload = await compactVerify(token.trim(), key, { algorithms: [algorithm] }).then(
    (result) => new TextDecoder().decode(result.payload),
    () => {
      throw new LicenseError("key", "is not signed by the key that is trusted here, or is damaged");
    },
  );
  const claims = Claims.safeParse(parse(payload));
  if (!claims.success) {
    const { path, message } = claims.error.issues[0]!;
    throw new LicenseError("key", `is signed, but its claim ${path.join(".") || "set"} is wrong: ${message}`);
  }
  const { sub, tier, devices, exp, nbf, note } = claims.data;
  return {
    license: {
      tier,
      expiration: new Date(exp * 1000).toISOString(),
      organization: sub,
      device_count: devices,
      ...(note === undefined ? {} : { note }),
    },
    validFrom: nbf === undefined ? null : new Date(nbf * 1000).toISOString(),
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
    throw new LicenseError("public key", "is not a public key in PEM form");
  }
  const p256 = key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
  if (key.asymmetricKeyType !== "ed25519" && !p256)
    throw new LicenseError("public key", "must be an Ed25519 or P-256 key");
  return key;
}
