// The request for a certificate, and the identity that the device gets for it.

import { encodeName } from "../../../../pki/names.ts";
import { type CertificateRequest, readRequest } from "../../../../pki/request.ts";
import { readSignedData, signerCertificate, verifySigned } from "../../../../pki/signed-data.ts";
import type { SecurityToken } from "../../../../soap/envelope.ts";
import { valueTypes } from "../../../../soap/names.ts";
import { bytesOfBase64 } from "../../../../text/base64.ts";
import type { DeviceCa } from "../../../certificates/device-ca/ca.ts";
import { type Identity, verifyIdentity } from "../../../certificates/device-ca/identities.ts";
import { IssueRefused, issueIdentity } from "../../../certificates/device-ca/issue.ts";
import type { Context } from "../../../platform/core/context.ts";
import { RENEWS, WINDOWS_ENROLLMENT } from "../channel/session.ts";
import { EnrollRefusal } from "./refusal.ts";

const refuse = (reason: string): never => {
  throw new EnrollRefusal("CertificateRequest", reason);
};

function bytesIn({ valueType, text }: SecurityToken, type: string): Buffer {
  const bytes = valueType === type ? bytesOfBase64(text) : null;
  return bytes ?? refuse("the request for a certificate has another type, or is not base64");
}

/** The request of a device that enrolls. */
export const requestIn = (token: SecurityToken): CertificateRequest => requestOf(bytesIn(token, valueTypes.pkcs10));

/** Whatever the bytes are, reading them only fails. */
function requestOf(der: Buffer): CertificateRequest {
  try {
    return readRequest(der);
  } catch {
    return refuse("the request for a certificate cannot be read, or its signature is wrong");
  }
}

/** The request of a device that renews its certificate, and the identity with which it has signed that. */
export async function renewalIn(
  ctx: Context,
  token: SecurityToken,
): Promise<{ readonly request: CertificateRequest; readonly identity: Identity }> {
  const bytes = bytesIn(token, valueTypes.pkcs7);
  const data = attempt(() => readSignedData(bytes));
  const certificate = data && attempt(() => signerCertificate(data));
  const identity = certificate && (await verifyIdentity(ctx, certificate));
  if (!data || data.content === null || identity?.purpose !== WINDOWS_ENROLLMENT)
    return refuse("the renewal is not signed with a valid certificate of a device");
  if (!attempt(() => verifySigned(data, () => identity.publicKey))) return refuse("the signature is wrong");
  return { request: requestOf(data.content), identity };
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export interface IssuedCertificate {
  readonly id: number;
  readonly certificate: Buffer;
  readonly commonName: string;
}

interface Issuing {
  readonly request: CertificateRequest;
  readonly hostId: number;
  readonly teamId: number | null;
  /** The enrollment, and the serial number of its identity, if this one renews that. */
  readonly renews?: { readonly enrollmentId: number; readonly serial: string };
}

/** Issues the identity in the caller's transaction. The subject is the server's own, whatever the device has asked. */
export async function issue(inside: Context, ca: DeviceCa, issuing: Issuing): Promise<IssuedCertificate> {
  const { request, hostId: host_id, teamId: team_id, renews } = issuing;
  const commonName = inside.random.uuid();
  const subject = encodeName([{ key: "CN", value: commonName }]);
  try {
    const identity = await issueIdentity(
      inside,
      ca,
      { ...request, subject, names: [] },
      {
        purpose: WINDOWS_ENROLLMENT,
        platform: "windows",
        team_id,
        host_id,
        facts: renews ? { [RENEWS]: renews.enrollmentId } : {},
        hardware_serial: null,
        hardware_uuid: null,
        renews: renews?.serial ?? null,
      },
    );
    return { ...identity, commonName };
  } catch (error) {
    if (error instanceof IssueRefused) return refuse(error.message);
    throw error;
  }
}
