import { z } from "zod";
import { Content, form, StreamedBody } from "../bodies.ts";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { LoginReply } from "./sessions.ts";

export const SsoInfo = z.object({ idp_name: z.string(), idp_image_url: z.string(), sso_enabled: z.boolean() });
export type SsoInfo = z.infer<typeof SsoInfo>;

/** Responses with long lists of groups. In a form post, few of their characters are percent-encoded. */
const CALLBACK_MAX = 512 * 1024;

export const ssoApi = {
  settings: endpoint({
    method: "GET",
    path: "/sso",
    summary: "Get whether single sign-on is turned on, and its display name.",
    purpose: "sign-in",
    access: "none",
    response: z.object({ settings: SsoInfo }),
  }),
  start: endpoint({
    method: "POST",
    path: "/sso",
    dryRun: "the identity provider decides",
    summary: "Start a sign-in: returns the URL for the browser, and the cookie that it has to send back.",
    purpose: "sign-in",
    access: "none",
    body: z.object({
      relay_url: z.string().max(2048).meta({ description: "path on this server to open after signing in" }),
    }),
    bodyLimit: 16 * 1024,
    response: z.object({ url: z.string() }),
  }),
  callback: endpoint({
    method: "POST",
    path: "/sso/callback",
    dryRun: PROVES,
    summary:
      "Process the identity provider's response. Returns a page that signs the browser in, or redirects to /login?status=...",
    purpose: "sign-in",
    access: "none",
    body: form(
      z.object({
        // 256 KiB in base64, with line breaks.
        SAMLResponse: z.string().min(1).max(360_000),
        RelayState: z.string().max(8192).optional().meta({ description: "ignored" }),
      }),
      { limit: CALLBACK_MAX },
    ),
    strangerLimit: CALLBACK_MAX,
    produces: "text/html; charset=utf-8",
    otherStatus: [303],
    response: StreamedBody,
  }),
  metadata: endpoint({
    method: "GET",
    path: "/sso/metadata",
    summary: "This service provider's SAML metadata, for the identity provider.",
    access: "none",
    produces: "application/samlmetadata+xml",
    response: Content,
  }),
  cliToken: endpoint({
    method: "POST",
    path: "/sso/cli_token",
    dryRun: PROVES,
    summary: "Exchange the code that a browser brought to the command line for a token.",
    purpose: "sign-in",
    access: "none",
    body: z.object({
      code: z.string().min(1).max(512),
      code_verifier: z
        .string()
        .min(43)
        .max(128)
        .regex(/^[\w.~-]+$/)
        .meta({ description: "code verifier; the browser was started with its SHA-256 (RFC 7636)" }),
    }),
    bodyLimit: 16 * 1024,
    response: LoginReply,
  }),
};
