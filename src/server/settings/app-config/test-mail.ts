import { isMask } from "../../../api/fields.ts";
import type { SmtpSettings } from "../../../api/settings/app-config.ts";
import type { TestMail } from "../../../api/settings/mail.ts";
import { cleanEmail } from "../../accounts/users/rules.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, invalidFields } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { isUsable, sendThrough } from "../../platform/mail/mail.ts";
import { testLetter } from "../../platform/mail/messages.ts";
import { sections } from "./sections.ts";

/** Sends a test mail with the stored or the given settings, even if mail is disabled. */
export async function testMail(ctx: Context, input: TestMail): Promise<{ sent_to: string }> {
  const to = addressOf(input.to ?? ctx.user.email);
  const { smtp_settings: stored } = await ctx.config.current();
  const smtp = input.smtp_settings === undefined ? stored : tried(stored, input.smtp_settings);
  if (!isUsable(smtp))
    throw invalid(
      `smtp_settings.${smtp.server === "" ? "server" : "sender_address"}`,
      "outgoing mail is not configured: set smtp_settings.server and smtp_settings.sender_address, or give both here",
    );
  await sendThrough(ctx, smtp, testLetter(to, await linkTo(ctx, "/")));
  return { sent_to: to };
}

function addressOf(text: string): string {
  try {
    return cleanEmail(text);
  } catch {
    throw invalid("to", "must be an email address");
  }
}

/** The stored settings, overridden by the given ones. */
function tried(stored: SmtpSettings, change: Partial<SmtpSettings>): SmtpSettings {
  const isStored = change.password === undefined || isMask(change.password);
  const settings = { ...stored, ...change, password: isStored ? stored.password : change.password! };
  // The stored password must not be sent to a different server.
  const isMoved = settings.server !== stored.server || settings.port !== stored.port;
  if (isStored && isMoved && stored.password !== "")
    throw invalid("smtp_settings.password", "must be given again if the server or port changes");
  const errors = sections.smtp_settings.check(settings);
  if (errors.length > 0)
    throw invalidFields(errors.map((error) => ({ ...error, name: `smtp_settings.${error.name}` })));
  return settings;
}
