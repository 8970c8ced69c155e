// The enrollment profile: with it a device gets its identity and the address of its device management
// (docs/protocols/apple.md).
import { createHash } from "node:crypto";
import { deviceCaApi } from "../../../../api/certificates/device-ca.ts";
import { appleChannelApi } from "../../../../api/devices/apple-channel.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import type { PlistDict, PlistValue } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import { deviceCa } from "../../../certificates/device-ca/ca.ts";
import { type NewChallenge, newChallenge } from "../../../certificates/device-ca/challenges.ts";
import { ownMdm } from "../../../hosts/mdm-status/own.ts";
import type { Context } from "../../../platform/core/context.ts";
import { mdmOff } from "../../../platform/core/errors.ts";
import { APPLE_ENROLLMENT, CONNECTS_TO } from "../channel/wire.ts";
import { deviceUrl, pushCertificateRow } from "../trust/service.ts";
import { signedProfile } from "../trust/signers.ts";
import { privateRoot } from "./private-root.ts";

export const PROFILE_TYPE = "application/x-apple-aspen-config";
export const PROFILE_FILE = "enrollment.mobileconfig";

const { payloadIdentifier: ENROLLMENT_IDENTIFIER } = ownMdm;
const IDENTITY_UUID = "5B6E4B0C-36E1-4E0B-9C3B-8C0A0D7C1F52";

const profiles = {
  enrollment: {
    type: "Configuration",
    identifier: ENROLLMENT_IDENTIFIER,
    uuid: "D1B7A3F2-5C46-4A5A-8D38-0F6C1E9B7A10",
  },
  identity: {
    type: "Configuration",
    identifier: `${ENROLLMENT_IDENTIFIER}.over-the-air`,
    uuid: "7C0E5B7E-2F7B-4E55-B0E3-94B3D1A6C821",
  },
  service: {
    type: "Profile Service",
    identifier: `${ENROLLMENT_IDENTIFIER}.service`,
    uuid: "A86D9B0F-1C35-4D0B-8E47-5D2C7F3E6B94",
  },
} as const;

/** Every right. Later profiles cannot add rights. */
const ALL_RIGHTS = 8191;

interface Payload {
  readonly type: string;
  readonly identifier: string;
  readonly uuid: string;
  readonly name: string;
}

const payloadOf = ({ type, identifier, uuid, name }: Payload, fields: PlistDict): PlistDict => ({
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
type EnrollmentFor = Omit<NewChallenge, "purpose"> & {
  /** The account of the user to whom the device belongs: it keeps their data apart. */
  readonly personal?: string;
};

/** The payload with which a device gets an identity. It contains a challenge that can be used once. */
async function identityPayload(ctx: Context, request: NewChallenge): Promise<PlistDict> {
  const url = await urlOf(ctx, deviceCaApi.get);
  const ca = await deviceCa(ctx);
  const challenge = await newChallenge(ctx, request);
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
export async function enrollmentProfile(ctx: Context, { personal, ...request }: EnrollmentFor): Promise<Buffer> {
  const push = await pushCertificateRow(ctx.store);
  if (!push) throw mdmOff();
  const server = await urlOf(ctx, appleChannelApi.put);
  const facts = { ...request.facts, [CONNECTS_TO]: server };
  const identity = await identityPayload(ctx, { ...request, facts, purpose: APPLE_ENROLLMENT });
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
      ...(personal === undefined ? {} : { EnrollmentMode: "BYOD", AssignedManagedAppleID: personal }),
    },
  );
  return profileOf(ctx, "enrollment", [...(await rootPayloads(ctx)), identity, management]);
}

/** A profile with nothing but an identity. */
export const identityProfile = async (ctx: Context, request: NewChallenge): Promise<Buffer> =>
  profileOf(ctx, "identity", [...(await rootPayloads(ctx)), await identityPayload(ctx, request)]);

/** The profile with which a device sends what it is to the URL. */
export const serviceProfile = (ctx: Context, url: string): Promise<Buffer> =>
  profileOf(ctx, "service", { URL: url, DeviceAttributes: ["UDID", "SERIAL", "PRODUCT", "VERSION"] });

async function profileOf(ctx: Context, kind: keyof typeof profiles, content: PlistValue): Promise<Buffer> {
  const { org_info } = await ctx.config.current();
  const organization = org_info.org_name || "svc";
  const profile = payloadOf(
    { ...profiles[kind], name: `${organization} device management` },
    {
      PayloadOrganization: organization,
      PayloadDescription: `Lets ${organization} manage this device.`,
      PayloadScope: "System",
      PayloadContent: content,
    },
  );
  return signedProfile(ctx, Buffer.from(writePlist(profile)));
}

/** Lets the device trust the server before it connects. */
async function rootPayloads(ctx: Context): Promise<PlistDict[]> {
  const root = await privateRoot(ctx);
  if (root === null) return [];
  const uuid = "2C4D5A36-8D52-4F0D-9A5B-6E7C0B1D3F48";
  const identifier = `${ENROLLMENT_IDENTIFIER}.root`;
  return [
    payloadOf(
      { type: "com.apple.security.root", identifier, uuid, name: "Certificate of the server" },
      { PayloadContent: root },
    ),
  ];
}
