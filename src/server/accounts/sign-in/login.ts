import type { LoginReply } from "../../../api/accounts/sessions.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, nobody, within } from "../../platform/core/context.ts";
import { authenticationFailed } from "../../platform/core/errors.ts";
import { proved } from "../../platform/core/http/strangers.ts";
import { verifyPassword } from "../../platform/core/security/passwords.ts";
import { type UserRow, viewerOf } from "../../platform/core/security/viewer.ts";
import { countLogin, loginSucceeded } from "../../platform/rate-limits/logins.ts";
import { eq } from "../../platform/store/query.ts";
import { refused } from "../sessions/refusal.ts";
import { createSession } from "../sessions/service.ts";
import { atCurrentCost } from "../users/rehash.ts";
import { availableTeams, viewUser } from "../users/view.ts";
import { mailSignInLink } from "./mfa.ts";

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly supports_email_verification?: boolean | undefined;
}

/** Returns a session. For users with multi-factor authentication, returns the message that a link was mailed. */
export async function login(ctx: Context, credentials: Credentials): Promise<LoginReply | { message: string }> {
  const started = ctx.clock.now();
  const email = credentials.email.trim().toLowerCase();
  await countLogin(ctx, ctx.address, email);
  const user = await userWith(ctx, email, credentials.password);
  if (!user) {
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email, public_ip: ctx.address });
    throw await refused(ctx, started);
  }
  // The password is only half of a sign-in: attempts continue to count, which also limits the number of mails.
  if (user.mfa_enabled) return mailSignInLink(ctx, user, credentials.supports_email_verification ?? true);
  await loginSucceeded(ctx, ctx.address, email);
  return signedIn(ctx, user, "password");
}

/**
 * How the user has signed in: with the password, additionally with a mailed link, or through an identity provider.
 */
type SignIn = "password" | "mfa" | "sso";

/** Opens a session for the authenticated user and records it. Joins the caller's transaction if there is one. */
export async function signedIn(ctx: Context, user: UserRow, how: SignIn): Promise<LoginReply> {
  const viewer = await viewerOf(ctx.store, user, null);
  const asUser = { ...ctx, user: viewer };
  const token = await ctx.store.tx(
    async (store) => {
      // The account may have been deleted, or its password or way of signing in changed, during the verification.
      const still = await store.users.get(user.id);
      if (!still || still.password_hash !== user.password_hash || still.sso_enabled !== (how === "sso"))
        throw authenticationFailed();
      await recordActivity({ ...asUser, store }, "user_logged_in", { public_ip: ctx.address });
      return createSession(within(asUser, store), user.id);
    },
    { lock: "users" },
  );
  return { user: await viewUser(asUser, user), available_teams: await availableTeams(asUser, viewer), token };
}

/** The user with this email and password. Users of single sign-on have no password here. */
async function userWith(ctx: Context, email: string, password: string): Promise<UserRow | null> {
  const user = await ctx.store.users.first({ where: eq("email", email) });
  const right = await verifyPassword(user?.password_hash ?? null, password, ctx);
  if (!right || !user) return null;
  proved(ctx);
  return atCurrentCost(ctx, user, password);
}
