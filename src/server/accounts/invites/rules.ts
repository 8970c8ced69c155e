import type { CreateInvite, ModifyInvite } from "../../../api/accounts/invites.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { alreadyExists, conflict, invalid } from "../../platform/core/errors.ts";
import { eq } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { hasExpired } from "../users/invited.ts";
import { checkMfa } from "../users/mfa.ts";
import type { invites } from "./tables.ts";

export type InviteRow = RowOf<typeof invites>;

/** The sign-in options that the invite offers. `before`: those that it offered until now. */
export async function checkSignIn(
  ctx: Context,
  input: Pick<CreateInvite | ModifyInvite, "sso_enabled" | "mfa_enabled">,
  before: { sso_enabled: boolean; mfa_enabled: boolean } = { sso_enabled: false, mfa_enabled: false },
): Promise<{ sso_enabled: boolean; mfa_enabled: boolean }> {
  const sso_enabled = input.sso_enabled ?? before.sso_enabled;
  const mfa_enabled = input.mfa_enabled ?? before.mfa_enabled;
  if (sso_enabled && mfa_enabled)
    throw conflict("single sign-on and multi-factor authentication cannot be used together");
  if (mfa_enabled && !before.mfa_enabled) await checkMfa(ctx, { sso: sso_enabled, apiOnly: false });
  return { sso_enabled, mfa_enabled };
}

/** 409 if a valid invite to the address exists. Returns an expired one. */
export async function checkNotInvited(ctx: Context, email: string, but = 0): Promise<InviteRow | null> {
  const invite = await ctx.store.invites.first({ where: eq("email", email) });
  if (!invite || invite.id === but) return null;
  if (!hasExpired(ctx, invite)) throw alreadyExists(`${email} is invited already`);
  return invite;
}

/** Deletes an expired invite to the address. 409 if a valid one exists. Call it in a transaction. */
export async function freeInvited(ctx: Context, email: string, but = 0): Promise<void> {
  const over = await checkNotInvited(ctx, email, but);
  if (over) await ctx.store.invites.delete(eq("id", over.id));
}

/** Existing users cannot be invited: 422. 409 if the address of an invite becomes that of a user. */
export async function checkNoUser({ store }: Pick<Context, "store">, email: string, isChange = false): Promise<void> {
  if (!(await store.users.first({ where: eq("email", email) }))) return;
  const reason = `a user with the email ${email} exists`;
  throw isChange ? alreadyExists(reason) : invalid("email", reason);
}

/** All changes that decide who has an account use the same lock. */
export const locked = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx((store) => work(within(ctx, store)), { lock: "users" });
