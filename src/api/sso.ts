import { z } from "zod";
import { endpoint, Streamed } from "./endpoint.ts";
import { LoginReply } from "./sessions.ts";

export const SsoInfo = z.object({ idp_name: z.string(), idp_image_url: z.string(), sso_enabled: z.boolean() });
export type SsoInfo = z.infer<typeof SsoInfo>;

const MiB = 1024 * 1024;

export const ssoApi = {
  settings: endpoint({
    method: "GET",
    path: "/sso",
    summary: "Whether single sign-on is on, and what to call it.",
    access: "none",
    response: z.object({ settings: SsoInfo }),
  }),
  start: endpoint({
    method: "POST",
    path: "/sso",
    summary: "Begin a sign-in: where to send the browser, and the cookie that it has to come back with.",
    access: "none",
    body: z.object({
      relay_url: z.string().max(2048).meta({ description: "path of this server to open after signing in" }),
    }),
    bodyLimit: 16 * 1024,
    response: z.object({ url: z.string() }),
  }),
  callback: endpoint({
    method: "POST",
    path: "/sso/callback",
    summary:
      "Take the identity provider's response: a page that signs the browser in, or a way back to /login?status=...",
    access: "none",
    accepts: "form",
    body: z.object({
      // A mebibyte in base64, with line ends.
      SAMLResponse: z.string().min(1).max(1_500_000),
      RelayState: z.string().max(8192).optional().meta({ description: "not trusted, and not used" }),
    }),
    // As a form posts it, where three characters stand for one of three.
    bodyLimit: 2 * MiB,
    produces: "text/html; charset=utf-8",
    otherStatus: [303],
    response: Streamed,
  }),
  metadata: endpoint({
    method: "GET",
    path: "/sso/metadata",
    summary: "This service provider's SAML metadata, for the identity provider.",
    access: "none",
    produces: "application/samlmetadata+xml",
    response: Streamed,
  }),
  cliToken: endpoint({
    method: "POST",
    path: "/sso/cli_token",
    summary: "Exchange the code that a browser brought to the command line for a token.",
    access: "none",
    body: z.object({
      code: z.string().min(1).max(512),
      code_verifier: z
        .string()
        .min(43)
        .max(128)
        .regex(/^[\w.~-]+$/)
        .meta({ description: "whose SHA-256 the browser was sent with (RFC 7636)" }),
    }),
    bodyLimit: 16 * 1024,
    response: LoginReply,
  }),
};
