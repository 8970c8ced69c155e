import type { LoginReply } from "../../api/sessions.ts";
import { recordActivity } from "../activities/record.ts";
import { seconds } from "../core/clock.ts";
import { type Context, nobody, within } from "../core/context.ts";
import { authenticationFailed } from "../core/errors.ts";
import { verifyPassword } from "../core/passwords.ts";
import { loginLimits } from "../core/rate-limit.ts";
import { eq } from "../store/query.ts";
import { availableTeams, viewUser } from "../users/view.ts";
import { type UserRow, viewerOf } from "../users/viewer.ts";
import { mailSignInLink } from "./mfa.ts";
import { atCurrentCost } from "./rehash.ts";
import { createSession } from "./service.ts";

/** A refusal comes no sooner, so that its time tells nothing of what was wrong. */
const LEAST_TIME_OF_REFUSAL = seconds(1);

export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly supports_email_verification?: boolean | undefined;
}

/** A session, or, for who signs in with multi-factor authentication, the message that a link was mailed. */
export async function login(ctx: Context, given: Credentials): Promise<LoginReply | { message: string }> {
  const started = ctx.clock.now();
  const email = given.email.trim().toLowerCase();
  const limits = loginLimits(ctx);
  limits.attempt(ctx.address, email);
  const user = await userWith(ctx, email, given.password);
  if (!user) {
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email, public_ip: ctx.address });
    throw await refused(ctx, started);
  }
  // The password alone is half a sign-in: attempts go on counting, which bounds the mails too.
  if (user.mfa_enabled) return mailSignInLink(ctx, user, given.supports_email_verification ?? false);
  limits.succeeded(ctx.address, email);
  return signedIn(ctx, user, "password");
}

/** The refusal of who could not show to be a user, once enough time has passed since `started`. */
export async function refused({ clock }: Pick<Context, "clock">, started: number): Promise<Error> {
  await clock.sleep(Math.max(0, started + LEAST_TIME_OF_REFUSAL - clock.now()));
  return authenticationFailed();
}

/** What the user has shown: its password, a mailed link beside it, or an identity provider's word. */
export type SignIn = "password" | "mfa" | "sso";

/** Opens a session for who has shown to be this user, and records it. Joins the caller's transaction where there is one. */
export async function signedIn(ctx: Context, user: UserRow, how: SignIn): Promise<LoginReply> {
  const viewer = await viewerOf(ctx.store, user, null);
  const own = { ...ctx, user: viewer };
  const token = await ctx.store.tx(
    async (store) => {
      // The account may have gone, or its password or way of signing in changed, while this one was being checked.
      const still = await store.users.get(user.id);
      if (!still || still.password_hash !== user.password_hash || still.sso_enabled !== (how === "sso"))
        throw authenticationFailed();
      await recordActivity({ ...own, store }, "user_logged_in", { public_ip: ctx.address });
      return createSession(within(own, store), user.id);
    },
    { lock: "users" },
  );
  return { user: await viewUser(own, user), available_teams: await availableTeams(own, viewer), token };
}

/** The user whose password this is. Users of single sign-on have none here. */
async function userWith({ store }: Context, email: string, password: string): Promise<UserRow | null> {
  const user = await store.users.first({ where: eq("email", email) });
  const right = await verifyPassword(user?.password_hash ?? null, password);
  return right && user ? atCurrentCost({ store }, user, password) : null;
}
