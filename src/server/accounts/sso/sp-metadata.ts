import { escapeXml } from "../../../xml/xml.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { serviceProvider } from "./addresses.ts";

/** The service provider metadata for the identity provider. 404 until the entity id and the server URL are set. */
export async function spMetadata(ctx: Context): Promise<string> {
  const { sso_settings: sso } = await ctx.config.current();
  const here = await serviceProvider(ctx, sso);
  if (here === null || here.entityId === "") throw notFound("service provider metadata", "of single sign-on");
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeXml(here.entityId)}">
  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escapeXml(here.acs)}" index="0" isDefault="true"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`;
}
