import type { ConfigGroup } from "./setting-types.ts";

const authenticationTypes = [
  { value: "authtype_username_and_password", label: "user name and password" },
  { value: "none", label: "none" },
];

const authenticationMethods = [
  { value: "authmethod_plain", label: "PLAIN" },
  { value: "authmethod_login", label: "LOGIN" },
  { value: "authmethod_cram_md5", label: "CRAM-MD5" },
];

export const mail: readonly ConfigGroup[] = [
  {
    title: "Mail",
    fields: [
      { path: "smtp_settings.enable_smtp", label: "The server sends mail", kind: "check" },
      { path: "smtp_settings.sender_address", label: "Sender address", kind: "email" },
      { path: "smtp_settings.server", label: "Mail server", kind: "text", hint: "a host name or address" },
      { path: "smtp_settings.port", label: "Port", kind: "number" },
      {
        path: "smtp_settings.domain",
        label: "Name by which this server introduces itself",
        kind: "text",
        hint: "empty: its own host name",
      },
    ],
  },
  {
    title: "Encryption",
    fields: [
      { path: "smtp_settings.enable_ssl_tls", label: "Connections are encrypted (TLS)", kind: "check" },
      { path: "smtp_settings.enable_start_tls", label: "STARTTLS is used if the server offers it", kind: "check" },
      {
        path: "smtp_settings.verify_ssl_certs",
        label: "The certificate of the mail server is verified",
        kind: "check",
      },
    ],
  },
  {
    title: "Authentication",
    fields: [
      {
        path: "smtp_settings.authentication_type",
        label: "Authentication",
        kind: "select",
        options: authenticationTypes,
      },
      {
        path: "smtp_settings.authentication_method",
        label: "Method",
        kind: "select",
        options: authenticationMethods,
      },
      { path: "smtp_settings.user_name", label: "User name", kind: "text" },
      {
        path: "smtp_settings.password",
        label: "Password",
        kind: "secret",
        hint: "stored encrypted and never shown; another server needs it again",
      },
    ],
  },
];

export const conditionalAccess: readonly ConfigGroup[] = [
  {
    title: "Conditional access",
    fields: [
      {
        path: "integrations.conditional_access_enabled",
        label: "Hosts without a team must pass their policies to sign in elsewhere",
        kind: "check",
        hint: "teams have this setting of their own",
        isPremium: true,
      },
      {
        path: "conditional_access.bypass_disabled",
        label: "Users of hosts that fail cannot let one sign-in pass",
        kind: "check",
        isPremium: true,
      },
    ],
  },
  {
    title: "Access product",
    fields: [
      { path: "conditional_access.provider_idp_id", label: "ID of this server there", kind: "text", isPremium: true },
      {
        path: "conditional_access.provider_assertion_consumer_service_url",
        label: "URL that receives answers",
        kind: "url",
        hint: "assertion consumer service",
        isPremium: true,
      },
      { path: "conditional_access.provider_audience_uri", label: "Audience", kind: "text", isPremium: true },
      {
        path: "conditional_access.provider_certificate",
        label: "Certificate of its requests",
        kind: "document",
        hint: "PEM",
        isPremium: true,
      },
    ],
  },
];

export const certificateRequests: readonly ConfigGroup[] = [
  {
    title: "Tokens of end users",
    fields: [
      {
        path: "integrations.certificates_idp_introspection_urls",
        label: "URLs at which tokens are checked",
        kind: "lines",
        hint: "one https URL on each line; a host that requests a certificate with a token needs one of these",
      },
      {
        path: "integrations.certificates_idp_client_ids",
        label: "Clients for which tokens are checked",
        kind: "lines",
        hint: "one on each line; none: any",
      },
      {
        path: "integrations.certificates_disable_host_end_user_binding",
        label: "A host may request a certificate for anybody whom a token proves",
        kind: "check",
        hint: "otherwise only for its own users",
      },
    ],
  },
];
