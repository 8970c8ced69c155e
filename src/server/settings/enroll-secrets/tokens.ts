// Tokens that enroll hosts for a while, and that only their hash is stored of.

import { isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { and, gt, oneOf } from "../../platform/store/query.ts";

export const findTokens = (
  { store, clock }: Pick<Context, "store" | "clock">,
  hashes: readonly string[],
): Promise<{ team_id: number | null; token_hash: string }[]> =>
  store.enrollTokens.pick(["team_id", "token_hash"], {
    where: and(oneOf("token_hash", hashes), gt("expires_at", clock.iso())),
  });

/** In the caller's transaction, and for the caller, with whom it ends. */
export async function addToken(
  { store, clock, random, user }: Context,
  teamId: number | null,
  lifetime: number,
): Promise<{ token: string; expires_at: string }> {
  const token = random.token(24);
  const now = clock.now();
  const expires_at = isoAt(now + lifetime);
  await store.enrollTokens.insert({
    created_at: isoAt(now),
    team_id: teamId,
    user_id: user.id,
    token_hash: tokenHash(token),
    expires_at,
  });
  return { token, expires_at };
}
