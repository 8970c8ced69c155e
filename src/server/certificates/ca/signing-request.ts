// Parses certificate requests from clients and verifies their signature.
import { type RequestContents, readContents } from "../../../pki/request-contents.ts";
import { bytesOfPaddedBase64 } from "../../../text/base64.ts";

export interface SigningRequest {
  readonly der: Buffer;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly emails: readonly string[];
  readonly userPrincipalNames: readonly string[];
  /** Everything that it asks for. Throws `BadRequestPem` if there is a part that cannot be read. */
  contents(): RequestContents;
}

export class BadRequestPem extends Error {}

const PEM =
  /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

/** PEM. Line breaks may also be two characters, a backslash and an n. Throws `BadRequestPem` for any error. */
export async function readSigningRequest(text: string): Promise<SigningRequest> {
  const der = bytesOfPaddedBase64(PEM.exec(text.replaceAll("\\r", "").replaceAll("\\n", "\n"))?.[1] ?? "");
  if (der === null) throw new BadRequestPem();
  try {
    return await parse(der);
  } catch {
    throw new BadRequestPem();
  }
}

async function parse(der: Buffer): Promise<SigningRequest> {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const request = new x509.Pkcs10CertificateRequest(new Uint8Array(der));
  if (!(await request.verify())) throw new BadRequestPem();
  const extensions = request.extensions.filter(({ type }) => type === SUBJECT_ALTERNATIVE_NAME);
  if (extensions.length > 1) throw new BadRequestPem();
  const names = extensions.flatMap(
    (extension) => new x509.SubjectAlternativeNameExtension(extension.rawData).names.items,
  );
  const of = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    der,
    publicKey: Buffer.from(request.publicKey.rawData),
    emails: of("email"),
    userPrincipalNames: of("upn"),
    contents: () => readable(der),
  };
}

function readable(der: Buffer): RequestContents {
  try {
    return readContents(der);
  } catch {
    throw new BadRequestPem();
  }
}

const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
