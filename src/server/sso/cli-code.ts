// The command line's sign-in through the browser (RFC 8252: a loopback address; RFC 7636: a challenge whose answer only the caller knows).
import { createHash } from "node:crypto";
import type { LoginReply } from "../../api/sessions.ts";
import { recordActivity } from "../activities/record.ts";
import { minutes } from "../core/clock.ts";
import { type Context, nobody } from "../core/context.ts";
import { sameText } from "../core/random.ts";
import { issueToken, takeToken } from "../mail/one-time.ts";
import { refused, signedIn } from "../sessions/login.ts";
import { ssoLimits } from "./limits.ts";

const LIFETIME = minutes(1);

/** A code for whoever knows what the challenge was made of. */
export const issueCliCode = (ctx: Context, userId: number, challenge: string): Promise<string> =>
  issueToken(ctx, "cli_login", userId, LIFETIME, { challenge });

/** A session for the code; one try, right or wrong. */
export async function exchangeCliCode(
  ctx: Context,
  { code, code_verifier: verifier }: { code: string; code_verifier: string },
): Promise<LoginReply> {
  const started = ctx.clock.now();
  // Each failure is recorded: nobody may fill the feed with them.
  ssoLimits(ctx).count("code", ctx.address);
  const taken = await takeToken(ctx, "cli_login", code);
  const user = taken === null ? null : await ctx.store.users.get(taken.user_id);
  const answer = createHash("sha256").update(verifier).digest("base64url");
  if (!user || !sameText(answer, taken?.data?.challenge ?? "")) {
    const email = user?.email ?? "";
    await recordActivity({ ...ctx, user: nobody }, "user_failed_login", { email, public_ip: ctx.address });
    throw await refused(ctx, started);
  }
  return signedIn(ctx, user, user.sso_enabled ? "sso" : "password");
}
