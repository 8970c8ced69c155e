import type { ModifyUser, User } from "../../../api/accounts/users.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict, forbidden, invalid, permissionDenied } from "../../platform/core/errors.ts";
import { isToken, notByToken } from "../../platform/core/http/token-scope.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { mailConfigured } from "../../platform/mail/mail.ts";
import { endTokens } from "../../platform/mail/one-time.ts";
import { eq } from "../../platform/store/query.ts";
import { endSessionsOfChangedRoles } from "../sessions/service.ts";
import { type Account, checkListedTeams, manages, visibleAccount } from "./access.ts";
import { recordEdit } from "./edits.ts";
import { awaitEmailChange, mailEmailChange, mailOldAddress } from "./email-change.ts";
import { checkMfa } from "./mfa.ts";
import { newHash, setPassword, showsPassword } from "./password.ts";
import { keepAnAdmin, rolesAfter, writeRoles } from "./roles.ts";
import { checkGravatar, cleanEmail } from "./rules.ts";
import { checkEmailFree } from "./service.ts";
import { changedSettings } from "./settings.ts";
import { viewUser } from "./view.ts";

/** Fields of the account itself. Roles have rules of their own. */
const accountFields = ["name", "email", "position", "gravatar_url", "new_password", "settings"] as const;

export async function modifyUser(ctx: Context, id: number, change: ModifyUser): Promise<{ user: User }> {
  const { user, roles } = await allowed(ctx, id, change);
  // Hashing is slow, so it is done before the transaction, which then checks the rules again.
  const email = change.email === undefined ? user.email : cleanEmail(change.email);
  checkGravatar(change.gravatar_url);
  await checkCurrentPassword(ctx, user, email, change);
  const hash = await newPasswordHash(user, change);
  const token = email !== user.email && (await mailConfigured(ctx)) ? ctx.random.token(32) : null;
  if (token !== null) {
    await checkEmailFree(ctx, email, id);
    await rolesAfter(ctx, roles, change, user.api_only);
    await mailEmailChange(ctx, user, email, token);
  }
  const reply = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const account = await allowed(inside, id, change);
      if (email !== account.user.email) await checkEmailFree(inside, email, id);
      await writeAccount(inside, account, change, token === null ? email : account.user.email);
      if (hash !== null) await setPassword(inside, user, hash, false);
      // Setting the current address again cancels a pending change.
      if (change.email !== undefined) await endTokens(inside, id, ["email_change"]);
      if (token !== null) await awaitEmailChange(inside, account.user, email, token);
      await changeRoles(inside, account, change);
      return { user: await viewUser(inside, (await store.users.get(id))!) };
    },
    { lock: "users" },
  );
  if (token !== null) mailOldAddress(ctx, user, email);
  return reply;
}

/** The account, if the caller may make these changes to it. */
async function allowed(ctx: Context, id: number, change: ModifyUser): Promise<Account> {
  const account = await visibleAccount(ctx, id);
  checkListedTeams(
    ctx,
    id,
    (change.teams ?? []).map((team) => team.id),
  );
  const isSelf = ctx.user.id === id;
  const managed = manages(ctx, account);
  if (!isSelf && !managed && accountFields.some((field) => change[field] !== undefined)) throw forbidden();
  if (!isSelf && change.settings?.console !== undefined) throw forbidden();
  if (!managed && signInChanges(account.user, change)) throw forbidden();
  await checkSignIn(ctx, account.user, change);
  return account;
}

const signInChanges = (user: UserRow, change: ModifyUser): boolean =>
  (change.sso_enabled ?? user.sso_enabled) !== user.sso_enabled ||
  (change.mfa_enabled ?? user.mfa_enabled) !== user.mfa_enabled;

async function checkSignIn(ctx: Context, user: UserRow, change: ModifyUser): Promise<void> {
  const sso = change.sso_enabled ?? user.sso_enabled;
  const mfa = change.mfa_enabled ?? user.mfa_enabled;
  if (sso && mfa) throw conflict("single sign-on and multi-factor authentication cannot be used together");
  if (mfa && !user.mfa_enabled) await checkMfa(ctx, { sso, apiOnly: user.api_only });
  if (sso && change.new_password !== undefined)
    throw invalid("new_password", "not allowed for users of single sign-on");
  if (user.sso_enabled && !sso && change.new_password === undefined)
    throw invalid("new_password", "must be given when single sign-on is turned off");
}

/** Changing one's own way of signing in requires the password, so that a stolen session is not enough. */
async function checkCurrentPassword(ctx: Context, user: UserRow, email: string, change: ModifyUser): Promise<void> {
  if (ctx.user.id !== user.id) return;
  if (email === user.email && change.new_password === undefined && !signInChanges(user, change)) return;
  if (isToken(ctx.user)) throw notByToken();
  if (user.password_hash === null) {
    // With single sign-on the identity provider determines the email address.
    if (email !== user.email) throw invalid("email", "is managed by single sign-on");
    return;
  }
  if (change.password === undefined || change.password === "")
    throw invalid("password", "is required to change how you sign in");
  if (!(await showsPassword(ctx, user, change.password))) throw permissionDenied();
}

const newPasswordHash = async (user: UserRow, change: ModifyUser): Promise<string | null> =>
  change.new_password === undefined ? null : newHash(user, "new_password", change.new_password);

async function writeAccount(ctx: Context, { user }: Account, change: ModifyUser, email: string): Promise<void> {
  const sso = change.sso_enabled ?? user.sso_enabled;
  // Links mailed to another address, or for a password that no longer exists, become invalid.
  if (email !== user.email || sso !== user.sso_enabled) await endTokens(ctx, user.id);
  await ctx.store.users.update({
    where: eq("id", user.id),
    set: {
      updated_at: ctx.clock.iso(),
      name: change.name,
      email,
      position: change.position,
      gravatar_url: change.gravatar_url,
      settings: change.settings && changedSettings(user.settings, change.settings),
      sso_enabled: sso,
      mfa_enabled: change.mfa_enabled,
      ...(sso ? { password_hash: null, force_password_reset: false } : {}),
    },
  });
  await recordEdit(ctx, user);
}

async function changeRoles(ctx: Context, { user, roles }: Account, change: ModifyUser): Promise<void> {
  const after = await rolesAfter(ctx, roles, change, user.api_only);
  await keepAnAdmin(ctx, roles, after);
  const now = (await ctx.store.users.get(user.id))!;
  if (await writeRoles(ctx, now, roles, after)) await endSessionsOfChangedRoles(ctx, [user.id]);
}
