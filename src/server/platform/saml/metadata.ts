// Reads an identity provider's metadata: its entity id, its sign-on URL and its signing certificates.
import { X509Certificate } from "node:crypto";
import { attribute, childrenOf, everyElement, parseXml, type XmlElement, XmlProblem } from "../../../xml/xml.ts";
import { instant, ns } from "./names.ts";

export interface IdentityProvider {
  readonly entityId: string;
  /** The single sign-on URL for the HTTP-Redirect binding. */
  readonly redirectUrl: string;
  /** PEM. */
  readonly certificates: readonly string[];
  /** When the metadata expires, in milliseconds. */
  readonly validUntil: number | null;
}

/** The metadata cannot be used. The message is for admins. */
export class MetadataProblem extends Error {}

/** The provider can be reached, but not by the binding that is supported: no sign-in could ever work. */
export class NoRedirectBinding extends MetadataProblem {}

export const METADATA_MAX = 1024 * 1024;
const MAX_ELEMENTS = 50_000;
const CERTIFICATES_MAX = 16;
const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";

/** Reads the metadata of the provider with that entity id; if it is empty, of the only provider. */
export function readMetadata(text: string, entityId: string): IdentityProvider {
  if (Buffer.byteLength(text) > METADATA_MAX) throw new MetadataProblem("the metadata is larger than 1 MiB");
  const root = documentOf(text);
  const entity = entityOf(root, entityId);
  const descriptor = childrenOf(entity, ns.metadata, "IDPSSODescriptor").find((candidate) =>
    (attribute(candidate, "protocolSupportEnumeration") ?? "").split(/\s+/).includes(PROTOCOL),
  );
  if (!descriptor) throw new MetadataProblem("the metadata contains no identity provider for SAML 2.0");
  const untils = [root, entity, descriptor].map(validUntilOf).filter((until) => until !== null);
  return {
    entityId: attribute(entity, "entityID") ?? "",
    redirectUrl: redirectUrlOf(descriptor),
    certificates: certificatesOf(descriptor),
    validUntil: untils.length === 0 ? null : Math.min(...untils),
  };
}

function documentOf(text: string): XmlElement {
  try {
    return parseXml(text.replace(/^\uFEFF/, "").trim(), { most: MAX_ELEMENTS, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem) throw new MetadataProblem(`the metadata cannot be read: ${error.message}`);
    throw error;
  }
}

/**
 * Why no sign-in could ever use the metadata: it is no document at all, or its provider (empty: the only one) cannot be
 * used. Null if one could, now or when the metadata is complete.
 */
export function documentProblem(text: string, entityId: string): string | null {
  try {
    documentOf(text);
  } catch (error) {
    if (error instanceof MetadataProblem) return error.message;
    throw error;
  }
  try {
    readMetadata(text, entityId);
  } catch (error) {
    if (error instanceof NoRedirectBinding) return error.message;
    if (!(error instanceof MetadataProblem)) throw error;
  }
  return null;
}

function entityOf(root: XmlElement, entityId: string): XmlElement {
  const entities = [...everyElement(root)].filter(
    ({ uri, name }) => uri === ns.metadata && name === "EntityDescriptor",
  );
  if (root.uri !== ns.metadata || !/^Entit(y|ies)Descriptor$/.test(root.name) || entities.length === 0)
    throw new MetadataProblem("the document is not SAML metadata");
  const matches = entityId === "" ? entities : entities.filter((entity) => attribute(entity, "entityID") === entityId);
  if (matches.length === 1) return matches[0]!;
  throw new MetadataProblem(
    entityId === ""
      ? "the metadata has several identity providers: set issuer_uri"
      : matches.length > 1
        ? "the metadata names the identity provider twice"
        : entities.length === 1
          ? `the metadata is of ${attribute(entities[0]!, "entityID")?.slice(0, 300)}, and issuer_uri is ${entityId}`
          : `the metadata does not name ${entityId}, which issuer_uri is`,
  );
}

function validUntilOf(element: XmlElement): number | null {
  const text = attribute(element, "validUntil");
  if (text === null) return null;
  const at = instant(text);
  if (at === null) throw new MetadataProblem("the metadata's validUntil is not a time");
  return at;
}

function redirectUrlOf(descriptor: XmlElement): string {
  const services = childrenOf(descriptor, ns.metadata, "SingleSignOnService");
  const location = services
    .filter((service) => attribute(service, "Binding") === REDIRECT)
    .map((service) => (attribute(service, "Location") ?? "").trim())
    // The browser is sent there, so no scheme that executes scripts is allowed.
    .find((url) => /^https?:\/\//i.test(url) && URL.canParse(url));
  if (location === undefined)
    throw services.length === 0
      ? new MetadataProblem("the metadata contains no address for single sign-on by the HTTP-Redirect binding")
      : new NoRedirectBinding(
          "the metadata contains no http or https address for single sign-on by the HTTP-Redirect binding, which alone is supported: turn it on at the identity provider",
        );
  return new URL(location).href;
}

/**
 * The certificates for signing. Their validity dates are ignored: being listed in the metadata is what makes them
 * valid.
 */
function certificatesOf(descriptor: XmlElement): string[] {
  const keys = childrenOf(descriptor, ns.metadata, "KeyDescriptor")
    .filter((key) => (attribute(key, "use") ?? "signing") === "signing")
    .flatMap((key) => [...everyElement(key)])
    .filter(({ uri, name }) => uri === ns.signature && name === "X509Certificate")
    .map(({ text }) => pemOf(text))
    .filter((pem) => pem !== null);
  const certificates = [...new Set(keys)];
  if (certificates.length === 0)
    throw new MetadataProblem("the metadata contains no certificate with an RSA key for signatures");
  if (certificates.length > CERTIFICATES_MAX)
    throw new MetadataProblem(`the metadata contains more than ${CERTIFICATES_MAX} certificates`);
  return certificates;
}

const LEAST_BITS = 1024;

function pemOf(text: string): string | null {
  const base64 = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  try {
    const certificate = new X509Certificate(Buffer.from(base64, "base64"));
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
    return type === "rsa" && (details?.modulusLength ?? 0) >= LEAST_BITS ? certificate.toString() : null;
  } catch {
    return null;
  }
}
