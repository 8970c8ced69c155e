import { X509Certificate } from "node:crypto";
import type { z } from "zod";
import { ConditionalAccess, SsoSettings } from "../../../../api/settings/app-config.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { documentProblem } from "../../../platform/saml/metadata.ts";
import { section } from "../section.ts";
import { badLinks, badServerUrls, badUrls, missing } from "./rules.ts";

const ENTITY_ID_MIN = 5;

export const noIdentityProvider = { entity_id: "", issuer_uri: "", idp_name: "", metadata: "", metadata_url: "" };
type IdentityProvider = typeof noIdentityProvider;

/** Checks an identity provider's settings, for the sign-in of users or of end users. */
export function providerProblems(value: IdentityProvider, required: boolean, what: string): FieldError[] {
  const errors = required ? missing(value, ["entity_id", "idp_name"], what) : [];
  if (value.entity_id !== "" && value.entity_id.length < ENTITY_ID_MIN)
    errors.push({ name: "entity_id", reason: `must be ${ENTITY_ID_MIN} or more characters` });
  if (required && value.metadata === "" && value.metadata_url === "")
    errors.push({ name: "metadata", reason: `either metadata or metadata_url is required to ${what}` });
  errors.push(...badUrls(value, ["metadata_url"]));
  const problem = value.metadata === "" ? null : documentProblem(value.metadata, value.issuer_uri);
  if (problem) errors.push({ name: "metadata", reason: problem });
  return errors;
}

/** Removes surrounding whitespace, which is often copied along with names, addresses and documents. */
export const trimmed = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value).map(([key, text]) => [key, typeof text === "string" ? text.trim() : text]),
  ) as T;

export const ssoSettings = section({
  name: "sso_settings",
  schema: SsoSettings,
  defaults: {
    enable_sso: false,
    ...noIdentityProvider,
    idp_image_url: "",
    enable_sso_idp_login: false,
    enable_jit_provisioning: false,
    sso_server_url: "",
  },
  premium: ["enable_jit_provisioning"],
  outbound: ["metadata_url"],
  complete: trimmed,
  check: (value) => [
    ...providerProblems(value, value.enable_sso, "enable SSO"),
    ...badLinks(value, ["idp_image_url"]),
    ...badServerUrls(value, ["sso_server_url"]),
  ],
  visibleTo: (user) => may(user, "config:read_secrets", null),
});

const providerFields = [
  "provider_idp_id",
  "provider_assertion_consumer_service_url",
  "provider_audience_uri",
  "provider_certificate",
] as const;

export const conditionalAccess = section({
  name: "conditional_access",
  schema: ConditionalAccess,
  defaults: {
    directory_tenant_id: "",
    directory_connection_configured: false,
    provider_idp_id: "",
    provider_assertion_consumer_service_url: "",
    provider_audience_uri: "",
    provider_certificate: "",
    bypass_disabled: false,
  },
  returned: { directory_connection_configured: "POST /conditional-access/directory/confirm sets it" },
  premium: ["directory_tenant_id", ...providerFields, "bypass_disabled"],
  complete: (value, _given, before) => withConnection(trimmed(value), before),
  check(value) {
    const empty = providerFields.filter((name) => value[name] === "");
    const isPartial = empty.length > 0 && empty.length < providerFields.length;
    return [
      ...(isPartial ? empty.map((name) => ({ name, reason: "all provider fields must be given, or none" })) : []),
      ...badUrls(value, ["provider_assertion_consumer_service_url"]),
      ...(value.provider_certificate === "" || isCertificate(value.provider_certificate)
        ? []
        : [{ name: "provider_certificate", reason: "must be a certificate in PEM: -----BEGIN CERTIFICATE----- ..." }]),
    ];
  },
});

/** One certificate, with which the access product signs its requests. */
function isCertificate(text: string): boolean {
  if (!/^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----$/.test(text)) return false;
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

type Access = z.infer<typeof ConditionalAccess>;

/** Another directory has not given its consent yet. */
const withConnection = (value: Access, before: Access): Access =>
  value.directory_tenant_id === before.directory_tenant_id
    ? value
    : { ...value, directory_connection_configured: false };
