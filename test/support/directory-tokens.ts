// The cloud directory as Windows devices know it: it signs the tokens with which they enroll, and publishes its keys.
import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { exportJWK, SignJWT } from "jose";
import type { SecurityToken } from "../../src/soap/envelope.ts";
import { tokenTypes } from "../../src/soap/names.ts";
import type { TestApp } from "./app.ts";
import { type Fake, startFake } from "./ca-fakes.ts";

export const TENANT = "11111111-2222-4333-8444-555555555555";
export const ISSUER = "https://sts.directory.example/";

/** Made once, because each takes as long as a whole test. */
let pairs: readonly KeyPairKeyObjectResult[] | undefined;

export interface Directory {
  readonly fake: Fake;
  /** Settings of a server that uses this directory. */
  readonly settings: Record<string, string>;
  /** The key that it signs with now; the earlier ones are not published any more. */
  keyNumber: number;
  sign(t: Pick<TestApp, "clock">, more?: Signing): Promise<SecurityToken>;
}

interface Signing {
  readonly claims?: Record<string, unknown>;
  readonly audience?: string;
  readonly issuer?: string;
  /** Seconds from now. */
  readonly from?: number;
  readonly until?: number;
  readonly keyNumber?: number;
  /** False: the header does not say which key has signed it. */
  readonly namesKey?: boolean;
}

export const directoryToken = (text: string): SecurityToken => ({
  valueType: tokenTypes.directory,
  text: Buffer.from(text).toString("base64"),
});

export async function startDirectory(): Promise<Directory> {
  pairs ??= [1, 2].map(() => generateKeyPairSync("rsa", { modulusLength: 2048 }));
  const keys = pairs;
  const fake = await startFake(async () => {
    const jwk = await exportJWK(keys[directory.keyNumber]!.publicKey);
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ keys: [{ ...jwk, kid: `k${directory.keyNumber}`, use: "sig" }] }),
    };
  });
  const directory: Directory = {
    fake,
    settings: { directory_jwks_url: `${fake.url}/keys`, directory_issuer: ISSUER },
    keyNumber: 0,
    async sign(
      { clock },
      { claims = {}, audience, issuer, from = -60, until = 3600, keyNumber, namesKey = true } = {},
    ) {
      const number = keyNumber ?? directory.keyNumber;
      const now = Math.floor(clock.now() / 1000);
      const jwt = await new SignJWT({ tid: TENANT, upn: "Ada@Example.com", scp: "mdm_delegation", ...claims })
        .setProtectedHeader({ alg: "RS256", ...(namesKey ? { kid: `k${number}` } : {}), typ: "JWT" })
        .setIssuer(issuer ?? `${ISSUER}${TENANT}/`)
        .setAudience(audience ?? "https://svc.example.com")
        .setNotBefore(now + from)
        .setExpirationTime(now + until)
        .sign(keys[number]!.privateKey);
      return directoryToken(jwt);
    },
  };
  return directory;
}
