import type { LoginReply } from "../../api/sessions.ts";
import { recordActivity } from "../activities/record.ts";
import { type Context, nobody, within } from "../core/context.ts";
import { loginLimits } from "../core/rate-limit.ts";
import { countLink } from "../mail/limits.ts";
import { takeToken } from "../mail/one-time.ts";
import { refused, signedIn } from "./login.ts";

/** The second step of multi-factor authentication: the token of the link that was mailed. */
export async function signInByLink(ctx: Context, token: string): Promise<LoginReply> {
  const started = ctx.clock.now();
  countLink(ctx, ctx.address);
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
    // Whose account was meant, nobody knows.
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email: "", public_ip: ctx.address });
    throw await refused(ctx, started);
  }
  loginLimits(ctx).succeeded(ctx.address, reply.user.email);
  return reply;
}
