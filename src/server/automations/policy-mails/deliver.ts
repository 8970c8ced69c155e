// One attempt to send a mail of the outbox.
import { ApiError } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { sendMail } from "../../platform/mail/mail.ts";
import { subscribed } from "../../platform/mail/opt-outs.ts";
import type { Deliver } from "../../platform/outbox/deliver.ts";
import { delivered, notDelivered } from "../../platform/outbox/outcome.ts";
import { type Digest, digestLetter } from "./digest.ts";
import { UNSUBSCRIBE_PAGE, unsubscribeToken } from "./unsubscribe.ts";

/** The reply of a mail server to an accepted mail (RFC 5321, 4.2.3). */
const ACCEPTED = 250;

export const deliverMail: Deliver = async (services, { payload, message_id }, signal) => {
  const digest = payload as unknown as Digest;
  const { to, team_id } = digest;
  if ((await subscribed(services.store, team_id, [to])).length === 0)
    return delivered(ACCEPTED, { skipped: "the recipient has unsubscribed" });
  const url = await linkTo(services, "");
  const token = await unsubscribeToken(services, { email: to, team_id });
  const letter = digestLetter(digest, url, `${url}${UNSUBSCRIBE_PAGE}${token}`);
  try {
    await sendMail(services, { ...letter, messageId: `<${message_id}@${hostOf(url)}>` }, signal);
    return delivered(ACCEPTED);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return notDelivered(error.errors[0]?.reason ?? error.message);
  }
};

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "localhost");
