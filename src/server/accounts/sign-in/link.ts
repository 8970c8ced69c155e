import type { LoginReply } from "../../../api/accounts/sessions.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, nobody, within } from "../../platform/core/context.ts";
import { countLink } from "../../platform/mail/limits.ts";
import { takeToken } from "../../platform/mail/one-time.ts";
import { loginSucceeded } from "../../platform/rate-limits/logins.ts";
import { refused } from "../sessions/refusal.ts";
import { signedIn } from "./login.ts";

/** The second step of multi-factor authentication: redeems the token of the mailed link. */
export async function signInByLink(ctx: Context, token: string): Promise<LoginReply> {
  const started = ctx.clock.now();
  await countLink(ctx, ctx.address);
  const reply = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const taken = await takeToken(inside, "mfa", token);
      const user = taken && (await store.users.get(taken.user_id));
      return user && !user.sso_enabled ? signedIn(inside, user, "mfa") : null;
    },
    { lock: "users" },
  );
  if (!reply) {
    // The account is not known at this point, so the activity names no user.
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email: "", public_ip: ctx.address });
    throw await refused(ctx, started);
  }
  await loginSucceeded(ctx, ctx.address, reply.user.email);
  return reply;
}
