// A host's own page: called by its owner's browser and desktop app with a token that its agent makes, and without a user's token.
import { z } from "zod";
import { License, OrgInfo } from "./app-config.ts";
import { endpoint } from "./endpoint.ts";
import { Empty } from "./fields.ts";
import { Host } from "./host.ts";
import { HostDesktopAdmin, hostDetailsApi } from "./host-details.ts";
import { hostsApi } from "./hosts.ts";
import { HostPolicy } from "./policies.ts";

// However long: what is no token is 401, like any other that is none. A URL is bounded.
const params = z.object({ token: z.string().min(1) });
const read = { method: "GET", access: "none", params } as const;

/** Without its SQL and author. */
export const DevicePolicy = HostPolicy.pick({
  id: true,
  name: true,
  description: true,
  resolution: true,
  platform: true,
  critical: true,
  conditional_access_enabled: true,
  response: true,
});
export type DevicePolicy = z.infer<typeof DevicePolicy>;

const Around = z.object({
  self_service: z.boolean(),
  org_logo_url: z.string(),
  license: License.pick({ tier: true, expiration: true }),
  global_config: z.object({ mdm: z.object({ enabled_and_configured: z.boolean() }) }),
});

export const DeviceHost = Host.omit({
  additional: true,
  labels: true,
  packs: true,
  pack_stats: true,
  policies: true,
  software: true,
}).extend({
  ...Around.shape,
  dep_assigned_to_svc: z.boolean(),
  policies: z.array(DevicePolicy).optional().meta({ description: "premium" }),
});
export type DeviceHost = z.infer<typeof DeviceHost>;

export const deviceApi = {
  get: endpoint({
    ...read,
    path: "/device/:token",
    summary: "Show a host to its owner.",
    // What is around the host stands beside it too, where desktop apps look for it.
    response: Around.extend({ host: DeviceHost }),
  }),
  desktop: endpoint({
    ...read,
    path: "/device/:token/desktop",
    summary: "What the desktop app shows; nothing in it identifies the host.",
    tier: "premium",
    response: z.object({
      failing_policies_count: z.int(),
      self_service: z.boolean(),
      notifications: z.object({ needs_mdm_migration: z.boolean(), renew_enrollment_profile: z.boolean() }),
      config: z.object({
        org_info: OrgInfo,
        mdm: z.object({ macos_migration: z.object({ mode: z.string() }) }),
      }),
    }),
  }),
  policies: endpoint({
    ...read,
    path: "/device/:token/policies",
    summary: "List the policies of a host, to its owner.",
    tier: "premium",
    response: z.object({ policies: z.array(DevicePolicy) }),
  }),
  software: endpoint({
    ...read,
    path: "/device/:token/software",
    summary: "List the software of a host, to its owner.",
    query: hostsApi.software.query,
    response: hostsApi.software.response,
  }),
  deviceMapping: endpoint({
    ...read,
    path: "/device/:token/device_mapping",
    summary: "List the email addresses that a host is mapped to, to its owner.",
    stability: "deprecated",
    response: hostDetailsApi.deviceMapping.response,
  }),
  desktopAdmin: endpoint({
    ...read,
    path: "/device/:token/desktopadmin",
    summary: "Tell what Munki and device management say of a Mac, to its owner.",
    response: z.object({ desktopadmin: HostDesktopAdmin.nullable() }),
  }),
  certificates: endpoint({
    ...read,
    path: "/device/:token/certificates",
    summary: "List the certificates on a host, to its owner.",
    query: hostDetailsApi.certificates.query,
    response: hostDetailsApi.certificates.response,
  }),
  refetch: endpoint({
    method: "POST",
    path: "/device/:token/refetch",
    summary: "Ask a host for all its details, as its owner.",
    access: "none",
    params,
    response: Empty,
  }),
};

/** What only the desktop app calls: no command does. */
export const desktopAppApi = {
  ping: endpoint({
    method: "HEAD",
    path: "/device/:token/ping",
    summary: "Whether the token is good.",
    access: "none",
    params,
    response: Empty,
  }),
  transparency: endpoint({
    ...read,
    path: "/device/:token/transparency",
    summary: "Where it says what the organization can see of a host.",
    status: 307,
    response: Empty,
  }),
  errors: endpoint({
    method: "POST",
    path: "/device/:token/debug/errors",
    summary: "Report an error of the desktop app.",
    access: "none",
    params,
    bodyLimit: 5 * 1024 * 1024,
    body: z.object({
      error_source: z.string().max(255).default(""),
      error_source_version: z.string().max(255).default(""),
      error_timestamp: z.string().max(64).default(""),
      error_message: z.string().default(""),
      error_additional_info: z.record(z.string(), z.json()).nullish(),
      vital: z.boolean().default(false),
    }),
    response: Empty,
  }),
};
