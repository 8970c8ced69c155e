// The profile that turns FileVault on, and makes Macs escrow their recovery keys (docs/protocols/apple.md, FileVault).
import { createHash } from "node:crypto";
import type { Certificate } from "../../../../pki/x509.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { FILEVAULT_IDENTIFIER } from "../../../hosts/disk-encryption/macs.ts";
import type { Upload } from "../../profiles/rules.ts";
import { applePlatform } from "../profiles/platform.ts";

/** Users see it in the settings of their Mac, and admins in the list of a host's profiles. */
const FILEVAULT_NAME = "Disk encryption (FileVault)";

interface Payload {
  readonly type: string;
  readonly part: string;
  readonly uuid: string;
  readonly name: string;
}

const payload = ({ type, part, uuid, name }: Payload, fields: PlistDict): PlistDict => ({
  PayloadType: type,
  PayloadVersion: 1,
  PayloadIdentifier: part === "" ? FILEVAULT_IDENTIFIER : `${FILEVAULT_IDENTIFIER}.${part}`,
  PayloadUUID: uuid,
  PayloadDisplayName: name,
  ...fields,
});

const CERTIFICATE_UUID = "2C5A8F0E-6E0B-4C61-9E76-0B7F3C1D5A24";

/** `certificate`: the one to which Macs envelop their keys. */
function filevaultProfile(certificate: Certificate): Buffer {
  const payloads = [
    payload(
      {
        type: "com.apple.MCX.FileVault2",
        part: "filevault",
        uuid: "8D0E6B42-3F59-4B3C-8B5D-6A1B6E2F9C70",
        name: "FileVault",
      },
      {
        Enable: "On",
        Defer: true,
        UseRecoveryKey: true,
        ShowRecoveryKey: false,
        DeferDontAskAtUserLogout: true,
        DeferForceAtUserLoginMaxBypassAttempts: 0,
        ForceEnableInSetupAssistant: true,
      },
    ),
    payload(
      {
        type: "com.apple.security.FDERecoveryKeyEscrow",
        part: "escrow",
        uuid: "F17E1B7C-92A4-4F0D-A3D9-51C4D0B6E863",
        name: "Escrow of the recovery key",
      },
      {
        Location: "The recovery key is kept by your organization's device management.",
        EncryptCertPayloadUUID: CERTIFICATE_UUID,
        DeviceKey: "svc",
      },
    ),
    payload(
      {
        type: "com.apple.security.pkcs1",
        part: "certificate",
        uuid: CERTIFICATE_UUID,
        name: "Certificate for the recovery key",
      },
      { PayloadCertificateFileName: "escrow.cer", PayloadContent: certificate.der },
    ),
    payload(
      {
        type: "com.apple.MCX",
        part: "options",
        uuid: "41B9D7E5-0C83-4D2A-B6F8-7E5C9A3D1B60",
        name: "FileVault stays on",
      },
      { dontAllowFDEDisable: true },
    ),
  ];
  const whole = { type: "Configuration", part: "", uuid: "B30C4D7A-5E19-4A86-9D02-C8F1E6A7B594", name: FILEVAULT_NAME };
  return Buffer.from(
    writePlist(
      payload(whole, {
        PayloadScope: "System",
        PayloadDescription: "Encrypts the disk, and keeps its recovery key for your organization.",
        PayloadContent: payloads,
      }),
    ),
  );
}

export function filevaultUpload(certificate: Certificate): Upload {
  const bytes = filevaultProfile(certificate);
  return {
    platform: applePlatform,
    letter: "a",
    kind: "profile",
    name: FILEVAULT_NAME,
    identifier: FILEVAULT_IDENTIFIER,
    bytes,
    checksum: createHash("sha256").update(bytes).digest("hex"),
    field: "profile",
    has_variables: false,
    activation: null,
    activation_identifier: null,
  };
}
