// The profile with which Macs get their certificate and present it to this server without asking.
import { createHash } from "node:crypto";
import type { PlistDict } from "../../../plist/value.ts";
import { writePlist } from "../../../plist/write.ts";
import { deviceCa } from "../../certificates/device-ca/ca.ts";
import type { Context } from "../../platform/core/context.ts";
import { notThere } from "../../platform/core/errors.ts";
import { secretsOf } from "../../settings/enroll-secrets/service.ts";
import { scepUrlOf, ssoUrlOf } from "./addresses.ts";
import { HARDWARE_URI } from "./certificates.ts";

export const PROFILE_FILE = "conditional-access.mobileconfig";

const IDENTIFIER = "com.svc.conditional-access";
const SCEP_UUID = "2C9F5C0E-6E0B-4F0A-8A55-0E4A4F7D6B21";

const payload = (type: string, name: string, uuid: string, fields: PlistDict): PlistDict => ({
  PayloadType: type,
  PayloadVersion: 1,
  PayloadIdentifier: `${IDENTIFIER}.${name}`,
  PayloadUUID: uuid,
  PayloadDisplayName: "Conditional access",
  ...fields,
});

/** The profile contains a global enroll secret, so only those who may read that get it. */
export async function accessProfile(ctx: Context): Promise<string> {
  const [secret] = await secretsOf(ctx, null);
  if (!secret) throw notThere("there is no global enroll secret, with which hosts prove themselves");
  const [ca, scepUrl, ssoUrl] = await Promise.all([deviceCa(ctx), scepUrlOf(ctx), ssoUrlOf(ctx)]);
  const scep = payload("com.apple.security.scep", "scep", SCEP_UUID, {
    PayloadContent: {
      URL: scepUrl,
      Name: "svc conditional access",
      Subject: [[["O", "svc"]], [["CN", "svc conditional access"]]],
      SubjectAltName: { uniformResourceIdentifier: `${HARDWARE_URI}%HardwareUUID%` },
      Challenge: secret.secret,
      Keysize: 2048,
      "Key Type": "RSA",
      "Key Usage": 5,
      CAFingerprint: createHash("sha1").update(ca.certificate.der).digest(),
      Retries: 3,
      RetryDelay: 10,
      KeyIsExtractable: false,
      AllowAllAppsAccess: true,
    },
  });
  const preference = payload(
    "com.apple.security.identitypreference",
    "preference",
    "7E0A9E75-3B57-4E7A-9F0D-52C1B5B6F4C8",
    { Name: ssoUrl, PayloadCertificateUUID: SCEP_UUID },
  );
  const pattern = JSON.stringify({
    pattern: new URL(ssoUrl).origin,
    filter: { ISSUER: { CN: "svc device CA" }, SUBJECT: { CN: "svc conditional access" } },
  });
  const chrome = payload("com.google.Chrome", "chrome", "B7A1D0C3-58B0-4D1E-9B53-61C7A2F08D17", {
    AutoSelectCertificateForUrls: [pattern],
  });
  return writePlist({
    ...payload("Configuration", "profile", "F1A86B5E-0E1D-4B0C-8D0B-9D0F5B1C3A62", {}),
    PayloadIdentifier: IDENTIFIER,
    PayloadScope: "User",
    PayloadDescription: "Signs in to services of your organization if this Mac passes its policies.",
    PayloadContent: [scep, preference, chrome],
  });
}
