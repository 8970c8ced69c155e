// Requests that depend on outgoing mail: forgotten passwords, changed addresses, and the test of the mail settings.
import { z } from "zod";
import { PROVES } from "../dry-run.ts";
import { endpoint } from "../endpoint.ts";
import { Empty } from "../fields.ts";
import { SmtpSettings } from "./app-config.ts";

const email = z.string().trim().min(1).max(255);
const password = z.string().max(1024);
const token = z.string().max(512);
const small = 16 * 1024;

export const TestMail = z.object({
  to: email.optional().meta({ description: "default: the caller's own address" }),
  smtp_settings: SmtpSettings.partial()
    .optional()
    .meta({ description: "settings to test instead of the stored ones; omitted fields use the stored values" }),
});
export type TestMail = z.output<typeof TestMail>;

export const mailApi = {
  forgotPassword: endpoint({
    method: "POST",
    path: "/forgot_password",
    dryRun: "its reply must not reveal whether the account exists",
    summary: "Mail a link to a user who has forgotten the password.",
    access: "none",
    body: z.object({ email }),
    bodyLimit: small,
    response: Empty,
  }),
  resetPassword: endpoint({
    method: "POST",
    path: "/reset_password",
    dryRun: PROVES,
    summary: "Set a new password, with the token of a mailed link.",
    access: "none",
    body: z.object({
      new_password: password,
      new_password_confirmation: password.optional(),
      password_reset_token: token,
    }),
    bodyLimit: small,
    response: Empty,
  }),
  confirmEmail: endpoint({
    method: "GET",
    path: "/email/change/:token",
    dryRun: true,
    summary: "Confirm a new email address with the token that was mailed to it.",
    access: "user",
    params: z.object({ token }),
    response: z.object({ new_email: z.string() }),
  }),
  testMail: endpoint({
    method: "POST",
    path: "/config/test_mail",
    dryRun: "it sends a mail",
    summary: "Send a test mail.",
    access: { action: "config:write", scope: "global" },
    body: TestMail,
    response: z.object({ sent_to: z.string() }),
  }),
};
