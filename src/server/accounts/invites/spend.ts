import type { Context } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import { hasExpired } from "../users/invited.ts";
import type { RolesInput } from "../users/roles.ts";
import { rolesOf } from "./view.ts";

interface Offer {
  /** Null if the teams of the invite no longer exist. */
  readonly roles: RolesInput | null;
  readonly position: string;
}

/**
 * For an account that is created without the link: uses up the pending invite to the address and returns its offer.
 * Null if there is no valid invite. Call it in a transaction that holds the users lock.
 */
export async function spendInvite(ctx: Context, email: string): Promise<Offer | null> {
  const invite = await ctx.store.invites.first({ where: eq("email", email) });
  if (!invite) return null;
  const { global, teams } = await rolesOf(ctx, invite);
  await ctx.store.invites.delete(eq("id", invite.id));
  if (hasExpired(ctx, invite)) return null;
  const roles = { global_role: global, teams: [...teams].map(([id, role]) => ({ id, role })) };
  return { roles: global === null && teams.size === 0 ? null : roles, position: invite.position };
}
