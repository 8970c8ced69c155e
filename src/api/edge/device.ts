// A host's own page: called by its user's browser and desktop app with a token that the agent generates, without a
// user's token.

import { z } from "zod";
import { Download } from "../bodies.ts";
import { PROVES } from "../dry-run.ts";
import { endpoint, OF_AGENTS } from "../endpoint.ts";
import { Empty, IdParam } from "../fields.ts";
import { Host, HostPolicy } from "../hosts/host.ts";
import { HostDesktopAdmin, hostDetailsApi } from "../inventory/host-details.ts";
import { hostsApi } from "../inventory/hosts.ts";
import { License, OrgInfo } from "../settings/app-config.ts";
import { CategoryList, CategoryPage } from "../software/self-service.ts";

// No length limit: an invalid token of any length gets 401. The length of URLs is limited elsewhere.
const params = z.object({ token: z.string().min(1) });
const read = { method: "GET", access: "none", params } as const;

/** Leaves out the query's SQL and the author. */
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
    summary: "Show a host on its own page.",
    // Desktop apps expect the fields around the host at this level too.
    response: Around.extend({ host: DeviceHost }),
  }),
  desktop: endpoint({
    ...read,
    path: "/device/:token/desktop",
    summary: "Get the data that the desktop app displays; it does not identify the host.",
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
    summary: "List the policies of a host on its own page.",
    tier: "premium",
    response: z.object({ policies: z.array(DevicePolicy) }),
  }),
  software: endpoint({
    ...read,
    path: "/device/:token/software",
    summary: "List the software of a host on its own page.",
    query: hostsApi.software.query,
    response: hostsApi.software.response,
  }),
  softwareCategories: endpoint({
    ...read,
    path: "/device/:token/software/self_service_categories",
    summary: "List the categories of self-service on a host's own page.",
    tier: "premium",
    query: CategoryPage,
    response: CategoryList,
  }),
  softwareIcon: endpoint({
    ...read,
    path: "/device/:token/software/titles/:software_title_id/icon",
    summary: "Download the icon of a software title on a host's own page; a redirect if only the store has one.",
    tier: "premium",
    params: params.extend({ software_title_id: IdParam }),
    produces: "image/png",
    otherStatus: [206, 302],
    response: Download,
  }),
  deviceMapping: endpoint({
    ...read,
    path: "/device/:token/device_mapping",
    summary: "List the email addresses of a host's users on its own page.",
    stability: "deprecated",
    response: hostDetailsApi.deviceMapping.response,
  }),
  desktopAdmin: endpoint({
    ...read,
    path: "/device/:token/desktopadmin",
    summary: "Show the Munki and device management data of a Mac on its own page.",
    response: z.object({ desktopadmin: HostDesktopAdmin.nullable() }),
  }),
  certificates: endpoint({
    ...read,
    path: "/device/:token/certificates",
    summary: "List the certificates of a host on its own page.",
    query: hostDetailsApi.certificates.query,
    response: hostDetailsApi.certificates.response,
  }),
  refetch: endpoint({
    method: "POST",
    path: "/device/:token/refetch",
    dryRun: PROVES,
    summary: "Request all details from a host, from its own page.",
    access: "none",
    params,
    response: Empty,
  }),
  triggerEscrow: endpoint({
    method: "POST",
    path: "/device/:token/mdm/linux/trigger_escrow",
    dryRun: PROVES,
    summary: "Have a Linux host escrow the key of its disk, from its own page.",
    tier: "premium",
    access: "none",
    params,
    status: 204,
    response: Empty,
  }),
  rotateEncryptionKey: endpoint({
    method: "POST",
    path: "/device/:token/rotate_encryption_key",
    dryRun: PROVES,
    summary: "Have a Mac replace the recovery key of its disk, from its own page.",
    access: "none",
    params,
    response: Empty,
  }),
  migrateMdm: endpoint({
    method: "POST",
    path: "/device/:token/migrate_mdm",
    dryRun: PROVES,
    summary: "Request a Mac's change from another device management, from its own page.",
    tier: "premium",
    access: "none",
    status: 204,
    params,
    response: Empty,
  }),
  bypassConditionalAccess: endpoint({
    method: "POST",
    path: "/device/:token/bypass_conditional_access",
    dryRun: PROVES,
    summary: "Let the next sign-in from a host pass, although it fails policies, from its own page.",
    tier: "premium",
    access: "none",
    params,
    response: Empty,
  }),
  signIn: endpoint({
    method: "POST",
    path: "/device/:token/sso",
    dryRun: "the identity provider decides",
    summary:
      "Start the sign-in on a host's own page: returns the URL for the browser, and the cookie that it has to send back.",
    tier: "premium",
    access: "none",
    params,
    body: z
      .object({
        host_uuid: z.string().max(255).optional().meta({ description: "refused if the token belongs to another host" }),
      })
      .optional(),
    bodyLimit: 16 * 1024,
    response: z.object({ url: z.string() }),
  }),
  apnsPing: endpoint({
    method: "POST",
    path: "/device/:token/apns_ping",
    dryRun: PROVES,
    summary: "Ask an Apple device to connect to device management, from its own page.",
    access: "none",
    status: 204,
    params,
    response: Empty,
  }),
};

/** Endpoints that only the desktop app uses; there are no commands for them. */
export const desktopAppApi = {
  ping: endpoint({
    method: "HEAD",
    path: "/device/:token/ping",
    summary: "Check whether the token is valid.",
    access: "none",
    params,
    response: Empty,
  }),
  transparency: endpoint({
    ...read,
    path: "/device/:token/transparency",
    summary: "Redirect to the page about what the organization can see of a host.",
    status: 307,
    response: Empty,
  }),
  errors: endpoint({
    method: "POST",
    path: "/device/:token/debug/errors",
    dryRun: OF_AGENTS,
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
