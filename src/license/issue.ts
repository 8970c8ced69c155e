// Creates key pairs for license keys, and signs license keys. Only commands use this; the server only verifies.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { algorithmOf, LICENSE_ISSUER, LicenseError, type VerifiedLicense, verifyLicense } from "./license.ts";

interface LicenseKeyPair {
  /** PKCS #8 in PEM form. */
  readonly privateKey: string;
  /** SPKI in PEM form: the value of the server's setting `license_public_key`. */
  readonly publicKey: string;
}

export function makeLicenseKeyPair(): LicenseKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    publicKey: publicKey.export({ type: "spki", format: "pem" }) as string,
  };
}

interface LicenseTerms {
  readonly organization: string;
  readonly devices: number;
  readonly expires: Date;
  readonly validFrom: Date | null;
  readonly note: string | null;
}

interface IssuedLicense extends VerifiedLicense {
  readonly token: string;
  /** The public key of the private key that signed. */
  readonly publicKey: string;
}

/** Signs a key and verifies it as a server would, so that no key is issued that a server would refuse. */
export async function issueLicense(terms: LicenseTerms, privateKeyPem: string, now: Date): Promise<IssuedLicense> {
  const key = readPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(key).export({ type: "spki", format: "pem" }) as string;
  const claims = {
    iss: LICENSE_ISSUER,
    sub: terms.organization,
    tier: "premium",
    devices: terms.devices,
    iat: seconds(now),
    exp: seconds(terms.expires),
    ...(terms.validFrom === null ? {} : { nbf: seconds(terms.validFrom) }),
    ...(terms.note === null ? {} : { note: terms.note }),
  };
  const token = await new SignJWT(claims).setProtectedHeader({ alg: algorithmOf(key), typ: "JWT" }).sign(key);
  return { ...(await verifyLicense(token, publicKey)), token, publicKey };
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem.replaceAll("\\n", "\n"));
  } catch {
    throw new LicenseError("private key", "is not a private key in PEM form without a passphrase");
  }
  algorithmOf(key, "private key");
  return key;
}
