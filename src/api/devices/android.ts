// Management of Android devices, which goes through the vendor's Android Management API.
import { z } from "zod";
import { Content, MiB, multipart, optionalFile, raw, StreamedBody } from "../bodies.ts";
import { apiPaths, endpoint, protocolEndpoint } from "../endpoint.ts";
import { Empty, nameText, QueryFlag } from "../fields.ts";

/** Sides of an icon in pixels. */
export const WEB_APP_ICON_LEAST = 512;
const WEB_APP_ICON_MAX = 2 * MiB;
const WEB_ADDRESS_MAX = 2_000;

const access = { action: "mdm:trust", scope: "global" } as const;

export const AndroidEnterprise = z.object({
  android_enterprise_id: z.string().meta({ description: "the vendor's id of the organization, such as LC02k5wxw7" }),
});
export type AndroidEnterprise = z.infer<typeof AndroidEnterprise>;

export const AndroidEnrollment = z.object({
  android_enrollment_token: z.string().meta({ description: "valid for an hour, for any number of devices" }),
  android_enrollment_url: z.string().meta({ description: "opened on the device" }),
  android_enrollment_qrcode: z
    .string()
    .meta({ description: "text of the QR code that a device scans during its setup" }),
});
export type AndroidEnrollment = z.infer<typeof AndroidEnrollment>;

export const androidApi = {
  get: endpoint({
    method: "GET",
    path: "/android_enterprise",
    summary: "Get the organization at the vendor with which Android devices are managed.",
    access,
    response: AndroidEnterprise,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/android_enterprise",
    summary: "Turn device management of Android off: the organization at the vendor is deleted, and its devices leave.",
    access,
    dryRun: "it deletes the organization at the vendor",
    response: Empty,
  }),
  signUp: endpoint({
    method: "GET",
    path: "/android_enterprise/signup_url",
    stability: "experimental",
    summary: "Start the sign-up that turns device management of Android on: get the vendor's page for it.",
    access,
    response: z.object({ android_enterprise_signup_url: z.string() }),
  }),
  addWebApp: endpoint({
    method: "POST",
    path: "/software/web_apps",
    stability: "experimental",
    summary: "Create an Android app that opens a website. Devices get it by its id, in the applications of a profile.",
    tier: "premium",
    access: { action: "packages:write", scope: "global" },
    body: multipart(
      {
        title: nameText().refine((text) => text.trim() !== "", { error: "must not be empty" }),
        url: z.string().max(WEB_ADDRESS_MAX).meta({ description: "of the website: http or https" }),
      },
      { icon: optionalFile({ limit: WEB_APP_ICON_MAX }) },
    ),
    dryRun: "the vendor would create the app",
    response: z.object({ app_store_id: z.string().meta({ description: "the package name of the app" }) }),
  }),
  signUpEvents: endpoint({
    method: "GET",
    path: "/android_enterprise/signup_sse",
    stability: "experimental",
    summary: "Wait for the end of the sign-up: one server-sent event, with comments until then.",
    access,
    response: StreamedBody,
    produces: "text/event-stream",
  }),
  enrollmentToken: endpoint({
    method: "GET",
    path: "/android_enterprise/enrollment_token",
    stability: "experimental",
    summary: "Get a token with which Android devices enroll.",
    access: "none",
    query: z.object({
      enroll_secret: z.string().min(1).max(255).meta({ description: "decides the team" }),
      fully_managed: QueryFlag.default(false).meta({
        description: "the device belongs to the organization; otherwise it gets a work profile",
      }),
    }),
    response: AndroidEnrollment,
  }),
};

/** The largest message that the vendor sends. */
const MESSAGE_LIMIT = 10 * MiB;

/** Addresses that only the vendor and its pages call. */
export const androidServiceApi = {
  connect: protocolEndpoint({
    method: "GET",
    paths: apiPaths("/android_enterprise/connect/:token"),
    summary: "End of the sign-up: the vendor's page sends the admin's browser here.",
    params: z.object({ token: z.string().min(1).max(255) }),
    query: z.object({ enterpriseToken: z.string().max(4096).default("") }),
    produces: "text/html; charset=utf-8",
    response: Content,
  }),
  message: protocolEndpoint({
    method: "POST",
    paths: apiPaths("/android_enterprise/pubsub"),
    summary: "Take a message of the vendor about a device.",
    query: z.object({ token: z.string().max(1024).default("") }),
    body: raw({ limit: MESSAGE_LIMIT }),
    response: Empty,
  }),
};
