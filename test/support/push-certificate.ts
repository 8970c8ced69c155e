// Push certificates as Apple's portal issues them, of a portal of our own.
import { type KeyObject, randomBytes } from "node:crypto";
import { issueLeaf, makeCa } from "../../src/pki/issue.ts";
import { encodeName, type NameField } from "../../src/pki/names.ts";
import { newKey, pem, readCertificate, spkiOf } from "../../src/pki/x509.ts";
import { days } from "../../src/server/platform/core/clock.ts";

export const TOPIC = "com.apple.mgmt.External.5d3c";

let portalKey: Promise<KeyObject> | undefined;

/** A certificate for the key, PEM. */
export async function pushCertificateFor(
  key: KeyObject,
  now: number,
  given: { topic?: string | null; from?: number; until?: number } = {},
): Promise<string> {
  const { topic = TOPIC, from = now - days(1), until = now + days(365) } = given;
  portalKey ??= newKey();
  const own = await portalKey;
  const name: NameField[] = [{ key: "CN", value: "Test Application Integration CA" }];
  const certificate = readCertificate(makeCa(name, own, randomBytes(8), { from: 0, until: Date.UTC(2049, 0, 1) }));
  const subject: NameField[] = [
    ...(topic === null ? [] : [{ key: "UID", value: topic }]),
    { key: "CN", value: "APSP:7f1e" },
    { key: "C", value: "US" },
  ];
  const spki = key.type === "public" ? key.export({ type: "spki", format: "der" }) : spkiOf(key);
  const leaf = {
    serial: Buffer.from("0102030405060708", "hex"),
    subject: encodeName(subject),
    spki,
    names: [],
    from,
    until,
  };
  return pem("CERTIFICATE", issueLeaf(leaf, { certificate, key: own }));
}

export const pemOfKey = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }) as string;
