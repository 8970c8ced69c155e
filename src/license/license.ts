// License keys: signed JWTs (RFC 7519), verified offline, by the server for its own key and by `svc license verify`
// for any key.
import type { KeyObject } from "node:crypto";
import { compactVerify } from "jose";
import { z } from "zod";
import { issueText } from "../api/issue-text.ts";
import type { License } from "../api/settings/app-config.ts";
import { readPublicKey } from "../pki/public-key.ts";

/** License keys are verified with this public key unless another one is given. */
const builtInKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAfzWBRmxZdb/D1K+/oiUZf3hei0a1i3KfQC9fzCxrPmY=
-----END PUBLIC KEY-----`;

export const LICENSE_ISSUER = "svc";

const Claims = z.object({
  iss: z.literal(LICENSE_ISSUER),
  /** The name of the organization. */
  sub: z.string().min(1).max(255),
  tier: z.literal("premium").default("premium"),
  /** The number of hosts that the license covers. */
  devices: z.int().min(0),
  /** Seconds since 1970. */
  exp: z.int().positive().max(253_402_300_799),
  nbf: z.int().min(0).max(253_402_300_799).optional(),
  note: z.string().max(1000).optional(),
});

type Part = "key" | "public key" | "private key";

/** Why a key cannot be used. The message continues a sentence that begins with the name of the part. */
export class LicenseError extends Error {
  readonly of: Part;

  constructor(of: Part, message: string) {
    super(message);
    this.of = of;
  }
}

export interface VerifiedLicense {
  readonly license: License;
  /** The license is not valid before this time. */
  readonly validFrom: string | null;
}

/**
 * Returns the license in a key with a valid signature. The caller must check whether it has expired or is not valid
 * yet.
 */
export async function verifyLicense(token: string, publicKeyPem = builtInKey): Promise<VerifiedLicense> {
  const key = publicKey(publicKeyPem);
  // The public key determines the algorithm, never the token's own header.
  const payload = await compactVerify(token.trim(), key, { algorithms: [algorithmOf(key)] }).then(
    (result) => new TextDecoder().decode(result.payload),
    () => {
      throw new LicenseError("key", "was not signed with the expected key, or is damaged");
    },
  );
  const claims = Claims.safeParse(parse(payload));
  if (!claims.success) {
    const issue = claims.error.issues[0]!;
    throw new LicenseError(
      "key",
      `has a valid signature, but its claim ${issue.path.join(".") || "set"} is wrong: ${issueText(issue)}`,
    );
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
    key = readPublicKey(pem);
  } catch {
    throw new LicenseError("public key", "is not a public key in PEM form");
  }
  algorithmOf(key);
  return key;
}

/** Ed25519 keys sign with EdDSA, P-256 keys with ES256; other keys are refused. */
export function algorithmOf(key: KeyObject, part: Part = "public key"): "EdDSA" | "ES256" {
  if (key.asymmetricKeyType === "ed25519") return "EdDSA";
  if (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1") return "ES256";
  throw new LicenseError(part, "must be an Ed25519 or P-256 key");
}
