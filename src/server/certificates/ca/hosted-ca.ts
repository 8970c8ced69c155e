// A client for the hosted authority with a REST API: checks a profile, and orders a certificate for a locally
// generated key.
import { z } from "zod";
import type { NameField } from "../../../pki/names.ts";
import { makeRequest } from "../../../pki/request.ts";
import { type Certificate, newKey, pem, readCertificate } from "../../../pki/x509.ts";
import { type Asking, askCa, CaError } from "./upstream.ts";

interface HostedCa {
  readonly url: string;
  readonly apiToken: string;
  readonly profileId: string;
}

const below = (url: string, path: string): string => `${url.replace(/\/+$/, "")}/mpki/api/${path}`;

const Profile = z.object({ id: z.string(), name: z.string().optional(), status: z.string() });

/** Checks that the profile exists and is active. */
export async function checkProfile(services: Asking, { url, apiToken, profileId }: HostedCa): Promise<void> {
  const { status, body } = await askCa(services, below(url, `v2/profile/${encodeURIComponent(profileId)}`), {
    headers: { "x-api-key": apiToken, accept: "application/json" },
  });
  if (status === 401) throw new CaError("credentials", "the API token is not accepted (status 401)", status);
  if (status === 403 || status === 404)
    throw new CaError("profile", `there is no such profile for this API token (status ${status})`, status);
  if (status !== 200) throw new CaError("answer", `the profile request returned status ${status}`, status);
  const profile = Profile.safeParse(jsonIn(body));
  if (!profile.success)
    throw new CaError("answer", "the reply to the profile request is not in the format of the hosted service");
  if (profile.data.status !== "Active") throw new CaError("profile", "the profile is not active");
}

interface Order {
  readonly commonName: string;
  readonly seatId: string;
  readonly userPrincipalName?: string;
}

interface OrderedCertificate {
  readonly certificate: Certificate;
  readonly serial: string;
  /**
   * Key and certificate for an Apple device, encrypted with `password` (PKCS #12). The key is stored nowhere else.
   */
  readonly pkcs12: Buffer;
  readonly password: string;
}

const Certified = z.object({
  serial_number: z.string().regex(/^[0-9A-Fa-f]{1,40}$/),
  delivery_format: z.string(),
  certificate: z.string().max(65_536),
});
const Refusal = z.object({ errors: z.array(z.object({ code: z.string().max(100) })).min(1) });

/** Orders a certificate for a newly generated key. The key is returned only inside the PKCS #12. */
export async function orderCertificate(
  services: Asking,
  ca: HostedCa,
  { commonName, seatId, userPrincipalName }: Order,
  password: string,
): Promise<OrderedCertificate> {
  const subject: NameField[] = [{ key: "CN", value: commonName }];
  const key = await newKey();
  const extensions =
    userPrincipalName === undefined ? {} : { extensions: { san: { user_principal_names: [userPrincipalName] } } };
  const { status, body } = await askCa(services, below(ca.url, "v1/certificate"), {
    method: "POST",
    headers: { "x-api-key": ca.apiToken, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      profile: { id: ca.profileId },
      seat: { seat_id: seatId },
      delivery_format: "x509",
      csr: pem("CERTIFICATE REQUEST", makeRequest(subject, key)),
      attributes: { subject: { common_name: commonName }, ...extensions },
    }),
  });
  if (status === 401) throw new CaError("credentials", "the API token is not accepted (status 401)", status);
  if (status !== 201) throw new CaError("refused", refusalOf(status, body), status);
  const reply = Certified.safeParse(jsonIn(body));
  const certificate = reply.success ? certificateIn(reply.data.certificate) : null;
  if (!reply.success || certificate === null) throw new CaError("answer", "the order returned no certificate", status);
  if (!certificate.parsed.checkPrivateKey(key))
    throw new CaError("answer", "the returned certificate is for another key", status);
  const pkcs8 = key.export({ type: "pkcs8", format: "pem" }).toString();
  const pkcs12 = await sealPkcs12(pkcs8, certificate.parsed.toString(), password);
  return { certificate, serial: reply.data.serial_number, pkcs12, password };
}

/** The service's short error codes. Its error texts are never used. */
function refusalOf(status: number, body: Buffer): string {
  const refusal = Refusal.safeParse(jsonIn(body));
  const codes = refusal.success
    ? refusal.data.errors.map(({ code }) => code).filter((code) => /^[\w.-]{1,64}$/.test(code))
    : [];
  const shown = codes.slice(0, 5).join(", ");
  return `the order was refused with status ${status}${shown === "" ? "" : ` (${shown})`}`;
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

function certificateIn(text: string): Certificate | null {
  const base64 = /-----BEGIN CERTIFICATE-----([\s\S]+?)-----END CERTIFICATE-----/.exec(text)?.[1];
  try {
    return base64 === undefined ? null : readCertificate(Buffer.from(base64, "base64"));
  } catch {
    return null;
  }
}

/** Uses 3DES, because importers on Apple devices support nothing newer. */
async function sealPkcs12(keyPem: string, certificatePem: string, password: string): Promise<Buffer> {
  const { default: forge } = await import("node-forge");
  const sealed = forge.pkcs12.toPkcs12Asn1(
    forge.pki.privateKeyFromPem(keyPem),
    [forge.pki.certificateFromPem(certificatePem)],
    password,
    { algorithm: "3des" },
  );
  return Buffer.from(forge.asn1.toDer(sealed).getBytes(), "binary");
}
