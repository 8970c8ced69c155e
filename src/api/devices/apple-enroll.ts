// Enrollment profiles of Apple devices.
import { z } from "zod";
import { ssoApi } from "../accounts/sso.ts";
import { Content, form, raw } from "../bodies.ts";
import { endpoint, protocolEndpoint } from "../endpoint.ts";
import { QueryTeam } from "../fields.ts";
import { fullPath, versions } from "../paths.ts";

const PROFILE = "application/x-apple-aspen-config";

const enroll_secret = z.string().min(1).max(255);

export const appleEnrollApi = {
  manual: endpoint({
    method: "GET",
    path: "/enrollment_profiles/manual",
    aliases: ["/mdm/manual_enrollment_profile"],
    summary: "Get a profile with which one Apple device enrolls in device management, within a week.",
    access: { action: "enroll_secrets:read", scope: "team" },
    query: z.object({
      enroll_secret: enroll_secret.optional().meta({ description: "decides the team; absent: team_id" }),
      team_id: QueryTeam.optional().meta({ description: "0, or absent: hosts without a team" }),
    }),
    produces: PROFILE,
    response: Content,
  }),
};

const params = z.object({ token: z.string().min(1) });

export const deviceEnrollApi = {
  manualProfile: endpoint({
    method: "GET",
    path: "/device/:token/mdm/vendora/manual_enrollment_profile",
    summary: "Get the address of the page on which a host's user enrolls it in device management.",
    access: "none",
    params,
    response: z.object({ enroll_url: z.string() }),
  }),
};

const automatic = {
  paths: ["/api/mdm/vendora/enroll"],
  query: z.object({ token: z.string().default("") }),
  produces: PROFILE,
  response: Content,
} as const;

/** Devices ask for their profile at their first start (docs/protocols/apple.md, Enrollment profile). */
export const automaticEnrollApi = {
  get: protocolEndpoint({
    ...automatic,
    method: "GET",
    summary: "Get the profile for a device whose machine info is in a header.",
    purpose: "enrollment",
  }),
  post: protocolEndpoint({
    ...automatic,
    method: "POST",
    summary: "Get the profile for a device that sends its machine info.",
    purpose: "enrollment",
    body: raw({ limit: 64 * 1024 }),
  }),
};

const ota = {
  query: z.object({ enroll_secret }),
  produces: PROFILE,
  response: Content,
} as const;
const apiPaths = (path: string): [string, ...string[]] => [
  fullPath({ root: false, path }),
  ...versions.slice(1).map((version) => fullPath({ root: false, path }, version)),
];

/** Enrollment over the air: the device first says what it is, then gets an identity, then its profile. */
export const otaEnrollApi = {
  get: protocolEndpoint({
    ...ota,
    method: "GET",
    paths: apiPaths("/enrollment_profiles/ota"),
    summary: "Get the profile with which a device begins to enroll over the air.",
    purpose: "enrollment",
  }),
  post: protocolEndpoint({
    ...ota,
    method: "POST",
    paths: apiPaths("/ota_enrollment"),
    summary: "Get the next profile for a device that sends signed facts about itself.",
    purpose: "enrollment",
    body: raw({ limit: 64 * 1024 }),
  }),
};

/** The user of a device signs in while it is set up. */
export const mdmSsoApi = {
  start: protocolEndpoint({
    method: "POST",
    paths: apiPaths("/mdm/sso"),
    summary: "Start the sign-in of a device's user: returns the URL for the browser, and its cookie.",
    purpose: "enrollment",
    query: z.object({ token: z.string().default("").meta({ description: "of the setup assistant profile" }) }),
    body: z.object({
      initiator: z.enum(["account_driven_enroll", "setup_experience", ""]).default(""),
      user_identifier: z.string().max(255).optional(),
      host_uuid: z.string().max(255).optional(),
    }),
    bodyLimit: 16 * 1024,
    strict: true,
    response: z.object({ url: z.string() }),
  }),
  callback: protocolEndpoint({
    method: "POST",
    paths: apiPaths("/mdm/sso/callback"),
    summary: "Process the identity provider's response, and redirect to the page that gives the profile.",
    purpose: "enrollment",
    body: form(ssoApi.callback.body, { limit: ssoApi.callback.bodyLimit }),
    strangerLimit: ssoApi.callback.strangerLimit,
    produces: "text/html; charset=utf-8",
    otherStatus: [302],
    response: Content,
  }),
};

/** A user enrolls their own iPhone or iPad with their account. */
export const accountEnrollApi = {
  discover: protocolEndpoint({
    method: "GET",
    paths: ["/mdm/vendora/service_discovery"],
    summary: "Get where devices of users enroll with their accounts.",
    purpose: "enrollment",
    tier: "premium",
    produces: "application/json",
    response: Content,
  }),
  enroll: protocolEndpoint({
    method: "POST",
    paths: ["/api/mdm/vendora/account_driven_enroll"],
    summary: "Get the profile for the device of a user who has signed in; before, where to sign in.",
    purpose: "enrollment",
    tier: "premium",
    body: raw({ limit: 64 * 1024 }),
    produces: PROFILE,
    response: Content,
  }),
};
