// The metadata with which the access product gets to know this identity provider (SAML metadata 2.4).
import { xmlAttribute } from "../../../xml/write.ts";
import type { Context } from "../../platform/core/context.ts";
import { ns } from "../../platform/saml/names.ts";
import { entityIdOf, ssoUrlOf } from "./addresses.ts";
import { signingKey } from "./signing.ts";

export async function idpMetadata(ctx: Pick<Context, "settings" | "config" | "running">): Promise<string> {
  const { der } = await signingKey(ctx);
  const [entityId, ssoUrl] = await Promise.all([entityIdOf(ctx), ssoUrlOf(ctx)]);
  return (
    '<?xml version="1.0" encoding="UTF-8"?>' +
    `<md:EntityDescriptor xmlns:md="${ns.metadata}" entityID="${xmlAttribute(entityId)}">` +
    `<md:IDPSSODescriptor protocolSupportEnumeration="${ns.protocol}" WantAuthnRequestsSigned="true">` +
    `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${ns.signature}"><ds:X509Data>` +
    `<ds:X509Certificate>${der.toString("base64")}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>` +
    "<md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified</md:NameIDFormat>" +
    '<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"' +
    ` Location="${xmlAttribute(ssoUrl)}"/></md:IDPSSODescriptor></md:EntityDescriptor>\n`
  );
}
