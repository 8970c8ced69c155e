// What hangs on outgoing mail: forgotten passwords, changed addresses, and the test of the mail settings.
import { z } from "zod";
import { SmtpSettings } from "./app-config.ts";
import { endpoint } from "./endpoint.ts";
import { Empty } from "./fields.ts";

const email = z.string().trim().min(1).max(255);
const password = z.string().max(1024);
const token = z.string().max(512);
const small = 16 * 1024;

export const TestMail = z.object({
  to: email.optional().meta({ description: "default: the caller's own address" }),
  smtp_settings: SmtpSettings.partial()
    .optional()
    .meta({ description: "to be tried instead of the stored ones; fields left out are as stored" }),
});
export type TestMail = z.output<typeof TestMail>;

export const mailApi = {
  forgotPassword: endpoint({
    method: "POST",
    path: "/forgot_password",
    summary: "Mail a link to a user who has forgotten the password.",
    access: "none",
    body: z.object({ email }),
    bodyLimit: small,
    status: 202,
    response: Empty,
  }),
  resetPassword: endpoint({
    method: "POST",
    path: "/reset_password",
    summary: "Choose a new password by the token of the link that was mailed.",
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
    summary: "Confirm one's new email address by the token of the link that was mailed to it.",
    access: "user",
    params: z.object({ token }),
    response: z.object({ new_email: z.string() }),
  }),
  testMail: endpoint({
    method: "POST",
    path: "/config/test_mail",
    summary: "Send a mail to see whether outgoing mail works.",
    access: { action: "config:write", scope: "global" },
    body: TestMail,
    response: z.object({ sent_to: z.string() }),
  }),
};
