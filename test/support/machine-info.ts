// Certificates of Apple devices, and what they sign with them before they are enrolled.
import { type KeyObject, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { issueLeaf, makeCa } from "../../src/pki/issue.ts";
import { encodeName, parseName } from "../../src/pki/names.ts";
import { signData } from "../../src/pki/signed-data.ts";
import { newKey, pem, readCertificate, spkiOf } from "../../src/pki/x509.ts";
import type { PlistDict } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { newDir } from "./ca-fakes.ts";

const keys: Promise<KeyObject>[] = [];
const keyOf = (index: number): Promise<KeyObject> => {
  keys[index] ??= newKey();
  return keys[index];
};

/** Times of the authority's and the device's certificates, which have ended long ago, like those of real devices. */
const times = { from: Date.UTC(2007, 0), until: Date.UTC(2014, 0) };

export interface DeviceAuthority {
  /** PEM, for the setting `apple_device_ca`. */
  readonly file: string;
  /** The property list, signed by a device with a certificate of this authority. */
  sign(info: PlistDict): Promise<Buffer>;
}

/** An authority with the key of this number. */
export async function deviceAuthority(index = 0): Promise<DeviceAuthority> {
  const key = await keyOf(index);
  const certificate = makeCa(parseName("/CN=Test Device CA"), key, randomBytes(8), times);
  const file = join(newDir(), "device-ca.pem");
  await writeFile(file, pem("CERTIFICATE", certificate));
  return {
    file,
    async sign(info) {
      const own = await keyOf(9);
      const subject = encodeName(parseName("/CN=A device"));
      const leaf = { serial: randomBytes(8), subject, spki: spkiOf(own), names: [], ...times };
      const issued = issueLeaf(leaf, { certificate: readCertificate(certificate), key });
      return signData(Buffer.from(writePlist(info)), { certificate: issued, key: own, digest: "sha256" });
    },
  };
}

export const machineInfo = (SERIAL: string, more: PlistDict = {}): PlistDict => ({
  UDID: `0000-${SERIAL}`,
  SERIAL,
  PRODUCT: "MacBookPro18,3",
  VERSION: "24B83",
  OS_VERSION: "15.1",
  LANGUAGE: "en",
  ...more,
});
