// Signed links with which a recipient takes its address off the mails about failing policies of one team.
import { createHmac } from "node:crypto";
import { recordActivity } from "../../platform/activities/record.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import { type Context, type Services, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { sameText } from "../../platform/core/random.ts";
import { part } from "../../platform/core/running.ts";
import { optOut } from "../../platform/mail/opt-outs.ts";
import { serverSecret } from "../../platform/shared-rows/secrets.ts";
import { teamNameOf } from "./team-name.ts";

export const UNSUBSCRIBE_PAGE = "/mail/unsubscribe/";

/** The key of the links, shared by all servers. It never changes, so it is read only once. */
const linkKey = part(
  "key for unsubscribe links",
  (services) => new CachedValue(() => serverSecret(services, "unsubscribe")),
);

interface Subscription {
  readonly email: string;
  /** Team, with the API's values: null is global, 0 is hosts without a team. */
  readonly team_id: number | null;
}

const signatureOf = (key: string, content: string): string =>
  createHmac("sha256", key).update(`unsubscribe ${content}`).digest("base64url");

export async function unsubscribeToken(services: Pick<Services, "running">, { email, team_id }: Subscription) {
  const content = Buffer.from(JSON.stringify([team_id, email])).toString("base64url");
  return `${content}.${signatureOf(await services.running.of(linkKey).get(), content)}`;
}

/** 404 if this server has not signed the token. */
export async function readUnsubscribeToken(services: Pick<Services, "running">, token: string): Promise<Subscription> {
  const [content = "", signature = ""] = token.split(".");
  const expected = signatureOf(await services.running.of(linkKey).get(), content);
  if (!sameText(signature, expected)) throw notFound("subscription", "");
  const [team_id, email] = JSON.parse(Buffer.from(content, "base64url").toString()) as [number | null, string];
  return { team_id, email };
}

/** Repeating it changes nothing. */
export function unsubscribe(ctx: Context, { email, team_id }: Subscription): Promise<void> {
  return ctx.store.tx(
    async (tx) => {
      const team_name = await teamNameOf(tx, team_id);
      // The team was deleted, and its mails with it.
      if (team_id !== null && team_name === null) return;
      if (!(await optOut(tx, team_id, email, ctx.clock.iso()))) return;
      await recordActivity(within(ctx, tx), "unsubscribed_from_policy_mails", { email, team_id, team_name });
    },
    { lock: "policy_mails" },
  );
}
