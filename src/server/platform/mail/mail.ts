// Sends mail through the server configured in smtp_settings.
import type { SmtpSettings } from "../../../api/settings/app-config.ts";
import type { Services } from "../core/context.ts";
import { failed, mailError } from "../core/errors.ts";
import { deliver, type Letter, NotSent } from "./smtp.ts";

type Mailing = Pick<Services, "config" | "settings" | "clock" | "dryRun">;

export const isUsable = ({ server, sender_address: sender }: SmtpSettings): boolean => server !== "" && sender !== "";

/** Whether outgoing mail is configured and enabled. */
export async function mailConfigured({ config }: Pick<Services, "config">): Promise<boolean> {
  const { smtp_settings: smtp } = await config.current();
  return smtp.enable_smtp && isUsable(smtp);
}

/** The error text of the API reference. */
export const notConfigured = () => failed("email not configured");

/** Sends a mail and waits until the server has accepted it. Throws 500 "Mail Error" with a reason for an admin. */
export async function sendMail(ctx: Mailing, letter: Letter, signal?: AbortSignal): Promise<void> {
  const { smtp_settings: smtp } = await ctx.config.current();
  if (!(await mailConfigured(ctx))) throw notConfigured();
  await sendThrough(ctx, smtp, letter, signal);
}

/** Maximum number of concurrent mails. A hanging server occupies one for up to `mail_timeout`. */
const MAX_CONCURRENT = 32;
let sending = 0;

/** Sends a mail with settings that are not stored yet. */
export async function sendThrough(
  { config, settings, clock, dryRun }: Mailing,
  smtp: SmtpSettings,
  letter: Letter,
  signal?: AbortSignal,
): Promise<void> {
  if (!isUsable(smtp)) throw notConfigured();
  if (dryRun !== null) {
    dryRun.unchecked("whether the mail server accepts the mail");
    return;
  }
  if (sending >= MAX_CONCURRENT) throw mailError("too many mails are being sent; try again");
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

/** Paths of the pages that mailed links open; the token is appended. */
export const linkPaths = { mfa: "/login/mfa/", reset: "/login/reset/", email: "/email/change/" } as const;
