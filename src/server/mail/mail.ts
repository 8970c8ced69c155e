// How the server sends mail: to one address, through the mail server of smtp_settings.
import type { SmtpSettings } from "../../api/app-config.ts";
import type { Services } from "../core/context.ts";
import { failed, mailError } from "../core/errors.ts";
import { deliver, type Letter, NotSent } from "./smtp.ts";

export type Mailing = Pick<Services, "config" | "settings" | "clock">;

const isUsable = ({ server, sender_address: sender }: SmtpSettings): boolean => server !== "" && sender !== "";

/** Whether outgoing mail is set up and turned on. */
export async function mailConfigured({ config }: Pick<Services, "config">): Promise<boolean> {
  const { smtp_settings: smtp } = await config.current();
  return smtp.enable_smtp && isUsable(smtp);
}

/** As the API's reference has it. */
export const notConfigured = () => failed("email not configured");

/** Sends a mail and waits until the server has taken it. Throws 500 "Mail Error" with a reason for an admin. */
export async function sendMail(ctx: Mailing, letter: Letter, signal?: AbortSignal): Promise<void> {
  const { smtp_settings: smtp } = await ctx.config.current();
  if (!(await mailConfigured(ctx))) throw notConfigured();
  await sendThrough(ctx, smtp, letter, signal);
}

/** A server that hangs holds these for as long as `mail_timeout`, and no more. */
const AT_ONCE = 32;
let sending = 0;

/** The same by settings that may not be the stored ones. */
export async function sendThrough(
  { config, settings, clock }: Mailing,
  smtp: SmtpSettings,
  letter: Letter,
  signal?: AbortSignal,
): Promise<void> {
  if (!isUsable(smtp)) throw notConfigured();
  if (sending >= AT_ONCE) throw mailError("too many mails are being sent; try again");
  const { org_info: org } = await config.current();
  sending++;
  try {
    await deliver(smtp, letter, {
      from: org.org_name || "svc",
      date: new Date(clock.now()),
      timeout: settings.mail_timeout,
      outbound: settings,
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    throw error instanceof NotSent ? mailError(error.message) : error;
  } finally {
    sending--;
  }
}

/** The pages that mailed links lead to; the token follows. */
export const linkPaths = { mfa: "/login/mfa/", reset: "/login/reset/", email: "/email/change/" } as const;
