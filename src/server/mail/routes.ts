import { mailApi } from "../../api/mail.ts";
import { type Route, route } from "../core/route.ts";
import { confirmEmail } from "../users/email-change.ts";
import { forgotPassword, resetPassword } from "../users/password-reset.ts";
import { testMail } from "./test-mail.ts";

export const mailRoutes: readonly Route[] = [
  route(mailApi.forgotPassword, ({ body }, ctx) => forgotPassword(ctx, body.email)),
  route(mailApi.resetPassword, ({ body }, ctx) => resetPassword(ctx, body)),
  route(mailApi.confirmEmail, ({ params }, ctx) => confirmEmail(ctx, params.token)),
  route(mailApi.testMail, ({ body }, ctx) => testMail(ctx, body)),
];
