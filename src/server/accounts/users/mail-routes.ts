import { mailApi } from "../../../api/settings/mail.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { confirmEmail } from "./email-change.ts";
import { forgotPassword, resetPassword } from "./password-reset.ts";

export const mailRoutes: readonly Route[] = [
  route(mailApi.forgotPassword, ({ body }, ctx) => forgotPassword(ctx, body.email)),
  route(mailApi.resetPassword, ({ body }, ctx) => resetPassword(ctx, body)),
  route(mailApi.confirmEmail, ({ params }, ctx) => confirmEmail(ctx, params.token)),
];
