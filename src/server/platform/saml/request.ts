import { deflateRawSync } from "node:zlib";
import { escapeXml } from "../../../xml/xml.ts";

interface AuthnRequest {
  readonly id: string;
  /** When the request is issued, ISO. */
  readonly issued: string;
  /** The sign-on URL of the identity provider. */
  readonly destination: string;
  readonly acs: string;
  readonly entityId: string;
}

const authnRequest = ({ id, issued, destination, acs, entityId }: AuthnRequest): string =>
  '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"' +
  ` ID="${escapeXml(id)}" Version="2.0" IssueInstant="${escapeXml(issued)}" Destination="${escapeXml(destination)}"` +
  ` AssertionConsumerServiceURL="${escapeXml(acs)}" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST">` +
  `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>` +
  '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress" AllowCreate="true"/>' +
  "</samlp:AuthnRequest>";

/** The URL to send the browser to, for the redirect binding (SAML bindings 3.4.4.1). */
export function redirectTo(request: AuthnRequest): string {
  const url = new URL(request.destination);
  url.hash = "";
  const encoded = deflateRawSync(authnRequest(request)).toString("base64");
  const query = `SAMLRequest=${encodeURIComponent(encoded)}`;
  return `${url.href}${url.search === "" ? "?" : "&"}${query}`;
}
