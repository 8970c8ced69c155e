// Certificates that the operator sets, with which the server signs: requests for push certificates (as an MDM vendor)
// and profiles.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { signData } from "../../../../pki/signed-data.ts";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { BadSetting } from "../../../platform/core/security/tls.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";

export interface FileSigner {
  /** PEM: the certificate and its chain. */
  readonly pem: string;
  /** DER: the certificate and its chain. */
  readonly chain: readonly Buffer[];
  readonly key: KeyObject;
}

interface Signers {
  readonly vendor: FileSigner | null;
  readonly profiles: FileSigner | null;
}

/** Read at the start, so that a wrong path or key is noticed then. */
export const signers = startedPart("signing certificates", ({ settings }) => loadSigners(settings));

export async function loadSigners(settings: Settings): Promise<Signers> {
  return {
    vendor: await load(settings, "apple_vendor_cert", "apple_vendor_key"),
    profiles: await load(settings, "apple_profile_cert", "apple_profile_key"),
  };
}

type Name = "apple_vendor_cert" | "apple_vendor_key" | "apple_profile_cert" | "apple_profile_key";

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

async function load(settings: Settings, cert: Name, key: Name): Promise<FileSigner | null> {
  const [certFile, keyFile] = [settings[cert], settings[key]];
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined || keyFile === undefined) throw new BadSetting(`${cert} and ${key}: both must be set`);
  const pem = await read(cert, certFile);
  const chain = parsed(cert, certFile, () =>
    (pem.match(BLOCK) ?? []).map((block) => Buffer.from(new X509Certificate(block).raw)),
  );
  if (chain.length === 0) throw new BadSetting(`${cert}: ${certFile} contains no certificate in PEM format`);
  const keyText = await read(key, keyFile);
  const privateKey = parsed(key, keyFile, () => createPrivateKey(keyText));
  if (!new X509Certificate(chain[0]!).checkPrivateKey(privateKey))
    throw new BadSetting(`${key}: ${keyFile} is not the key of the certificate in ${certFile}`);
  return { pem, chain, key: privateKey };
}

const read = (name: Name, file: string): Promise<string> =>
  readFile(file, "utf8").catch((error: Error) => {
    throw new BadSetting(`${name}: ${error.message}`);
  });

function parsed<T>(name: Name, file: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new BadSetting(`${name}: ${file} cannot be read as PEM`);
  }
}

/** Whether the profile is a CMS message (DER), which a signature is. Property lists begin with another byte. */
export const isSigned = (profile: Buffer): boolean => profile[0] === 0x30;

/** The profile as devices get it: signed if a certificate for that is set, otherwise unchanged. */
export function signedProfile({ running }: Pick<Services, "running">, profile: Buffer): Buffer {
  const signer = running.find(signers)?.profiles ?? null;
  if (signer === null) return profile;
  const [certificate, ...chain] = signer.chain;
  return signData(profile, { certificate: certificate!, key: signer.key, digest: "sha256", chain });
}
