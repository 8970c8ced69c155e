// Sign-in of the command line through the browser, with a loopback address (RFC 8252) and a code challenge (RFC
// 7636).
import { createHash } from "node:crypto";
import type { LoginReply } from "../../../api/accounts/sessions.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { minutes } from "../../platform/core/clock.ts";
import { type Context, nobody } from "../../platform/core/context.ts";
import { sameText } from "../../platform/core/random.ts";
import { issueToken, takeToken } from "../../platform/mail/one-time.ts";
import { refused } from "../sessions/refusal.ts";
import { signedIn } from "../sign-in/login.ts";
import { countSsoStep } from "./limits.ts";

const LIFETIME = minutes(1);

/** Issues a code that can be exchanged only with the verifier of the challenge. */
export const issueCliCode = (ctx: Context, userId: number, challenge: string): Promise<string> =>
  issueToken(ctx, "cli_login", userId, LIFETIME, { challenge });

/** Exchanges the code for a session. A code allows one attempt. */
export async function exchangeCliCode(
  ctx: Context,
  { code, code_verifier: verifier }: { code: string; code_verifier: string },
): Promise<LoginReply> {
  const started = ctx.clock.now();
  // Limited, because each failure is recorded in the activity feed.
  await countSsoStep(ctx, "code", ctx.address);
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
