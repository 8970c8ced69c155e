import type { z } from "zod";
import type { sessionsApi } from "../../api/sessions.ts";
import { recordActivity } from "../activities/record.ts";
import { seconds } from "../core/clock.ts";
import { type Context, nobody, within } from "../core/context.ts";
import { authenticationFailed } from "../core/errors.ts";
import { verifyPassword } from "../core/passwords.ts";
import { loginLimits } from "../core/rate-limit.ts";
import { eq } from "../store/query.ts";
import { availableTeams, viewUser } from "../users/view.ts";
import { type UserRow, viewerOf } from "../users/viewer.ts";
import { createSession } from "./service.ts";

/** A refusal comes no sooner, so that its time tells nothing of what was wrong. */
const LEAST_TIME_OF_REFUSAL = seconds(1);

type LoginReply = z.output<(typeof sessionsApi)["login"]["response"]>;

export async function login(ctx: Context, given: { email: string; password: string }): Promise<LoginReply> {
  const started = ctx.clock.now();
  const email = given.email.trim().toLowerCase();
  const limits = loginLimits(ctx);
  limits.attempt(ctx.address, email);
  const user = await userWith(ctx, email, given.password);
  if (!user) {
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email, public_ip: ctx.address });
    await ctx.clock.sleep(Math.max(0, started + LEAST_TIME_OF_REFUSAL - ctx.clock.now()));
    throw authenticationFailed();
  }
  limits.succeeded(ctx.address, email);
  const viewer = await viewerOf(ctx.store, user, null);
  const signedIn = { ...ctx, user: viewer };
  const token = await ctx.store.tx(
    async (store) => {
      // The account may have gone, or its password changed, while this one was being checked.
      const still = await store.users.get(user.id);
      if (still?.password_hash !== user.password_hash) throw authenticationFailed();
      await recordActivity({ ...signedIn, store }, "user_logged_in", { public_ip: ctx.address });
      return createSession(within(signedIn, store), user.id);
    },
    { lock: "users" },
  );
  return { user: await viewUser(signedIn, user), available_teams: await availableTeams(signedIn, viewer), token };
}

/** The user whose password this is. Users of single sign-on have none here. */
async function userWith({ store }: Context, email: string, password: string): Promise<UserRow | null> {
  const user = await store.users.first({ where: eq("email", email) });
  const right = await verifyPassword(user?.password_hash ?? null, password);
  return right ? user : null;
}
