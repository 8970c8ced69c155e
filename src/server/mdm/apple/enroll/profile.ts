// The enrollment profile: with it a device gets its identity and the address of its device management (device protocols,
// 1.2).
import { createHash } from "node:crypto";
import { appleChannelApi } from "../../../../api/apple-channel.ts";
import { deviceCaApi } from "../../../../api/device-ca.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Context } from "../../../core/context.ts";
import { mdmOff } from "../../../core/errors.ts";
import { deviceCa } from "../../../device-ca/ca.ts";
import { type NewChallenge, newChallenge } from "../../../device-ca/challenges.ts";
import { ownMdm } from "../../../mdm-status/own.ts";
import { APPLE_ENROLLMENT } from "../channel/check-in.ts";
import { deviceUrl, pushCertificateRow } from "../trust/service.ts";
import { signedProfile } from "../trust/signers.ts";
import { privateRoot } from "./private-root.ts";

export const PROFILE_TYPE = "application/x-apple-aspen-config";
export const PROFILE_FILE = "enrollment.mobileconfig";

const { payloadIdentifier: ENROLLMENT_IDENTIFIER } = ownMdm;
const IDENTITY_UUID = "5B6E4B0C-36E1-4E0B-9C3B-8C0A0D7C1F52";

/** Every right. Later profiles cannot add rights. */
const ALL_RIGHTS = 8191;

interface Payload {
  readonly type: string;
  readonly identifier: string;
  readonly uuid: string;
  readonly name: string;
}

export const payloadOf = ({ type, identifier, uuid, name }: Payload, fields: PlistDict): PlistDict => ({
  PayloadType: type,
  PayloadVersion: 1,
  PayloadIdentifier: identifier,
  PayloadUUID: uuid,
  PayloadDisplayName: name,
  ...fields,
});

/** The URL of an endpoint for devices. */
async function urlOf(ctx: Context, { path }: AnyEndpoint): Promise<string> {
  const url = await deviceUrl(ctx, path);
  if (url === null) throw mdmOff();
  return url;
}

/** What an identity is for: see `NewChallenge`. */
export type EnrollmentFor = Omit<NewChallenge, "purpose">;

/** The payload with which a device gets its identity. It contains a challenge that can be used once. */
export async function identityPayload(ctx: Context, given: EnrollmentFor): Promise<PlistDict> {
  const url = await urlOf(ctx, deviceCaApi.get);
  const ca = await deviceCa(ctx);
  const challenge = await newChallenge(ctx, { ...given, purpose: APPLE_ENROLLMENT });
  return payloadOf(
    {
      type: "com.apple.security.scep",
      identifier: `${ENROLLMENT_IDENTIFIER}.identity`,
      uuid: IDENTITY_UUID,
      name: "Identity",
    },
    {
      PayloadContent: {
        URL: url,
        Name: "svc",
        Subject: [[["O", "svc"]], [["CN", "svc identity"]]],
        Challenge: challenge,
        Keysize: 2048,
        "Key Type": "RSA",
        "Key Usage": 5,
        CAFingerprint: createHash("sha1").update(ca.certificate.der).digest(),
        Retries: 3,
        RetryDelay: 10,
        KeyIsExtractable: false,
      },
    },
  );
}

/** The whole profile, signed if a certificate for that is set. */
export async function enrollmentProfile(ctx: Context, given: EnrollmentFor): Promise<Buffer> {
  const push = await pushCertificateRow(ctx.store);
  if (!push) throw mdmOff();
  const { org_info } = await ctx.config.current();
  const root = await privateRoot(ctx);
  const server = await urlOf(ctx, appleChannelApi.put);
  const identity = await identityPayload(ctx, given);
  const management = payloadOf(
    {
      type: "com.apple.mdm",
      identifier: `${ENROLLMENT_IDENTIFIER}.management`,
      uuid: "9E1C2C61-0D0E-4B65-8E4C-5B2F53A7F0E4",
      name: "Device management",
    },
    {
      IdentityCertificateUUID: IDENTITY_UUID,
      Topic: push.topic,
      ServerURL: server,
      SignMessage: true,
      AccessRights: ALL_RIGHTS,
      CheckOutWhenRemoved: true,
      ServerCapabilities: ["com.apple.mdm.per-user-connections", "com.apple.mdm.bootstraptoken"],
      UseDevelopmentAPNS: false,
    },
  );
  const organization = org_info.org_name || "svc";
  const profile = payloadOf(
    {
      type: "Configuration",
      identifier: ENROLLMENT_IDENTIFIER,
      uuid: "D1B7A3F2-5C46-4A5A-8D38-0F6C1E9B7A10",
      name: `${organization} device management`,
    },
    {
      PayloadOrganization: organization,
      PayloadDescription: `Lets ${organization} manage this device.`,
      PayloadScope: "System",
      PayloadContent: [...(root === null ? [] : [rootPayload(root)]), identity, management],
    },
  );
  return signedProfile(ctx, Buffer.from(writePlist(profile)));
}

/** Lets the device trust the server before it connects. */
export const rootPayload = (certificate: Buffer): PlistDict =>
  payloadOf(
    {
      type: "com.apple.security.root",
      identifier: `${ENROLLMENT_IDENTIFIER}.root`,
      uuid: "2C4D5A36-8D52-4F0D-9A5B-6E7C0B1D3F48",
      name: "Certificate of the server",
    },
    { PayloadContent: certificate },
  );
