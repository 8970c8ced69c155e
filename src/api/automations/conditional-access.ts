// Conditional access: only hosts that pass the policies of their team may sign in to an organization's other services.
// This server is the identity provider that the access product asks (SAML 2.0), or is connected with the directory.
import { z } from "zod";
import { Content, form, raw } from "../bodies.ts";
import { endpoint, protocolEndpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Timestamp } from "../fields.ts";

const premium = { tier: "premium" } as const;
const admin = { ...premium, access: { action: "conditional_access:write", scope: "global" } } as const;

/** Hosts' devices in the directory, and how it accepts what is reported of them. */
export const DirectoryConnection = z.object({
  directory_tenant_id: z.string().meta({ description: "empty: no connection was begun" }),
  connected: z.boolean().meta({ description: "whether the directory's administrator has given consent" }),
  devices: z.object({
    compliant: z.int(),
    noncompliant: z.int(),
    unreported: z.int().meta({ description: "known to hosts, but not accepted by the directory yet" }),
    failing: z.int().meta({ description: "whose last report was not accepted" }),
  }),
  last_reported_at: Timestamp.nullable(),
  paused_until: Timestamp.nullable().meta({ description: "the directory is sent nothing before this time" }),
  last_error: z.string(),
});
export type DirectoryConnection = z.infer<typeof DirectoryConnection>;

const DirectoryDevice = z.object({
  device_id: z.string().meta({ description: "GUID of the device in the directory" }),
  tenant_id: z.string().meta({ description: "GUID of its directory; empty: the host does not know it" }),
  user_principal_name: z.string().meta({ description: "the account that registered it; empty: unknown" }),
  status: z
    .enum(["compliant", "noncompliant", "unreported"])
    .meta({ description: "what the connected directory has accepted" }),
  reported_at: Timestamp.nullable(),
  pending: z.boolean().meta({ description: "whether a report is due" }),
  last_error: z.string(),
});

/** Whether a host may sign in to the organization's other services. */
export const HostAccess = z.object({
  enabled: z.boolean().meta({ description: "whether conditional access is turned on for the host's team" }),
  blocking_policies: z.array(z.object({ id: Id, name: z.string() })),
  directory: DirectoryDevice.nullable().meta({ description: "null: the host's device is not known" }),
});
export type HostAccess = z.infer<typeof HostAccess>;

export const conditionalAccessApi = {
  directory: endpoint({
    ...premium,
    method: "GET",
    path: "/conditional-access/directory",
    summary: "Get the connection with the directory, and how many devices comply.",
    access: { action: "config:read", scope: "global" },
    response: DirectoryConnection,
  }),
  host: endpoint({
    ...premium,
    method: "GET",
    path: "/hosts/:id/conditional_access",
    summary: "Get whether a host may sign in to other services, and what the directory knows of its device.",
    access: { action: "hosts:read", scope: "team" },
    params: z.object({ id: IdParam }),
    response: z.object({ conditional_access: HostAccess }),
  }),
  signingCert: endpoint({
    ...premium,
    method: "GET",
    path: "/conditional_access/idp/signing_cert",
    summary: "Download the certificate with which this server signs as an identity provider.",
    access: { action: "config:read", scope: "global" },
    produces: "application/x-pem-file",
    response: Content,
  }),
  profile: endpoint({
    ...premium,
    method: "GET",
    path: "/conditional_access/idp/vendora/profile",
    summary: "Download the profile with which Macs get their certificate. It contains a global enroll secret.",
    access: { action: "enroll_secrets:read", scope: "global" },
    produces: "application/x-apple-aspen-config",
    response: Content,
  }),
  connect: endpoint({
    ...admin,
    method: "POST",
    path: "/conditional-access/directory",
    summary: "Begin to connect the directory: returns the URL at which its administrator gives consent.",
    body: z.object({
      directory_tenant_id: z.string().max(64).meta({ description: "GUID of the directory" }),
    }),
    response: z.object({ directory_authentication_url: z.string() }),
  }),
  confirm: endpoint({
    ...admin,
    method: "POST",
    path: "/conditional-access/directory/confirm",
    summary: "Check whether the directory's administrator has given consent, which completes the connection.",
    dryRun: "the directory decides",
    response: z.object({ configuration_completed: z.boolean() }),
  }),
  disconnect: endpoint({
    ...admin,
    method: "DELETE",
    path: "/conditional-access/directory",
    summary: "Remove the connection with the directory.",
    response: Empty,
  }),
};

const operation = z.string().default("");
const scep = {
  ...premium,
  paths: ["/api/svc/conditional_access/scep"],
  produces: "application/x-pki-message",
  response: Content,
} as const;

/** What browsers and devices call. */
/** Sign-in requests are signed, and a few kilobytes. */
const REQUEST_MAX = 192 * 1024;

export const conditionalAccessIdpApi = {
  metadata: protocolEndpoint({
    ...premium,
    method: "GET",
    paths: ["/api/svc/conditional_access/idp/metadata"],
    summary: "This identity provider's SAML metadata, for the access product.",
    produces: "application/xml",
    response: Content,
  }),
  sso: protocolEndpoint({
    ...premium,
    method: "POST",
    paths: ["/api/svc/conditional_access/idp/sso"],
    summary: "Answer a sign-in request with a page that posts the answer, or redirect to a page that explains why not.",
    body: form(
      z.object({
        SAMLRequest: z
          .string()
          .min(1)
          .max(128 * 1024),
        RelayState: z.string().max(8192).optional(),
      }),
      { limit: REQUEST_MAX },
    ),
    strangerLimit: REQUEST_MAX,
    produces: "text/html; charset=utf-8",
    otherStatus: [303],
    response: Content,
  }),
  scepGet: protocolEndpoint({
    ...scep,
    method: "GET",
    summary: "Ask the certificate authority for its capabilities or its certificate, or send a message in the query.",
    query: z.object({ operation, message: z.string().optional() }),
  }),
  scepPost: protocolEndpoint({
    ...scep,
    method: "POST",
    summary: "Send a message to the certificate authority for conditional access.",
    query: z.object({ operation }),
    body: raw({ limit: 128 * 1024 }),
  }),
};
