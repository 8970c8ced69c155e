// Endpoints for the recipient of an invite. The token of the invite is the only authentication.
import type { AcceptInvite, Invite } from "../../../api/accounts/invites.ts";
import type { User } from "../../../api/accounts/users.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, invalid } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { checkPassword, hashPassword } from "../../platform/core/security/passwords.ts";
import { aboutUser, viewerOf } from "../../platform/core/security/viewer.ts";
import { eq } from "../../platform/store/query.ts";
import { addUser } from "../users/add.ts";
import { hasExpired } from "../users/invited.ts";
import { checkRole } from "../users/roles.ts";
import { cleanEmail } from "../users/rules.ts";
import { checkEmailFree } from "../users/service.ts";
import { viewUser } from "../users/view.ts";
import { type InviteRow, locked } from "./rules.ts";
import { rolesOf, viewInvite } from "./view.ts";

/** The token is a secret, so the error does not repeat it. */
const unknownInvite = () =>
  new ApiError(404, "Resource Not Found", [
    { name: "base", reason: "an invite with this token was not found in the datastore" },
  ]);

async function findByToken(ctx: Context, token: string): Promise<InviteRow> {
  const row = await ctx.store.invites.first({ where: eq("token_hash", tokenHash(token)) });
  if (!row) throw unknownInvite();
  if (hasExpired(ctx, row)) throw invalid("invite_token", "the invite has expired: ask for a new one");
  return row;
}

export const showInvite = async (ctx: Context, token: string): Promise<{ invite: Invite }> => ({
  invite: await viewInvite(ctx, await findByToken(ctx, token)),
});

/** Creates the account with the role, teams and sign-in options of the invite, and uses the invite up. */
export async function acceptInvite(ctx: Context, input: AcceptInvite): Promise<{ user: User }> {
  const offered = await findByToken(ctx, input.invite_token);
  const password = checkAcceptance(offered, input);
  // Hashing is slow, so it is done before the transaction, which then checks the rules again.
  const hash = password === null ? null : await hashPassword(password);
  return locked(ctx, async (inside) => {
    const invite = await findByToken(inside, input.invite_token);
    checkAcceptance(invite, input);
    const roles = await offeredRoles(inside, invite);
    if ((await inside.store.invites.delete(eq("id", invite.id))) === 0) throw unknownInvite();
    await checkEmailFree(inside, invite.email);
    const { email, position, sso_enabled, mfa_enabled } = invite;
    const user = await addUser(
      inside,
      { name: input.name, email, password_hash: hash, position, sso_enabled, mfa_enabled },
      { global: invite.global_role, teams: roles.teams },
    );
    const asUser = { ...inside, user: await viewerOf(inside.store, user, null) };
    await recordActivity(asUser, "created_user", aboutUser(user));
    return { user: await viewUser(asUser, user) };
  });
}

/** The password of the new user. Null for single sign-on. */
function checkAcceptance(invite: InviteRow, input: AcceptInvite): string | null {
  if (cleanEmail(input.email) !== invite.email)
    throw invalid("email", "is not the address that the invite was sent to");
  if (input.sso_invite !== undefined && input.sso_invite !== invite.sso_enabled)
    throw invalid("sso_invite", `the invite is ${invite.sso_enabled ? "" : "not "}for single sign-on`);
  if (invite.sso_enabled) {
    if (input.password) throw invalid("password", "not allowed for users of single sign-on");
    return null;
  }
  if (!input.password) throw invalid("password", "must be given");
  checkPassword("password", input.password);
  return input.password;
}

/** The offer may no longer be possible: the team may be deleted or the license expired. */
async function offeredRoles(ctx: Context, invite: InviteRow) {
  const roles = await rolesOf(ctx, invite);
  if (roles.global === null && roles.teams.size === 0)
    throw invalid("invite_token", "the teams of this invite no longer exist: ask for a new one");
  if (roles.global) checkRole(ctx, roles.global, { apiOnly: false, onTeam: false });
  for (const role of roles.teams.values()) checkRole(ctx, role, { apiOnly: false, onTeam: true });
  if (invite.mfa_enabled) needPremium(ctx);
  return roles;
}
