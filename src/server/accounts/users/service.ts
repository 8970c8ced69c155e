import { teamsFor } from "../../../api/access.ts";
import type { CreateUser, User } from "../../../api/accounts/users.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium, type Viewer, within } from "../../platform/core/context.ts";
import { alreadyExists, conflict, invalid } from "../../platform/core/errors.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { isToken } from "../../platform/core/http/token-scope.ts";
import { checkPassword, hashPassword } from "../../platform/core/security/passwords.ts";
import { aboutUser, viewerOf } from "../../platform/core/security/viewer.ts";
import { endTokens } from "../../platform/mail/one-time.ts";
import { and, eq, everything, exists, isNull, not, oneOf, type Predicate, search } from "../../platform/store/query.ts";
import { createSession, endSessions } from "../sessions/service.ts";
import { sessionsChanged } from "../sessions/streams.ts";
import { managedAccount, visibleAccount } from "./access.ts";
import { addUser } from "./add.ts";
import { hasExpired } from "./invited.ts";
import { checkMfa } from "./mfa.ts";
import { keepAnAdmin, noRoles, rolesAfter } from "./roles.ts";
import { checkGravatar, cleanEmail } from "./rules.ts";
import { shownSettings } from "./settings.ts";
import { userTeams } from "./tables.ts";
import { availableTeams, viewUser, viewUsers } from "./view.ts";

export interface UserFilter extends PageQuery {
  readonly query?: string | undefined;
  readonly team_id?: number | undefined;
}

const onTeams = (ids: readonly number[]): Predicate => exists(userTeams, "user_id", oneOf("team_id", ids));

/** Users with a role on the team. 0 means users without a team. */
export const withRoleIn = (teamId: number | undefined): Predicate =>
  teamId === undefined ? everything : teamId === 0 ? not(exists(userTeams, "user_id")) : onTeams([teamId]);

/** The users whom this user may list. */
export function visibleUsers(user: Viewer): Predicate {
  if (user.kind === "service") return everything;
  const teams = teamsFor(user, "users:list");
  return teams === "all" ? everything : and(isNull("global_role"), onTeams(teams));
}

export async function listUsers(ctx: Context, filter: UserFilter) {
  const where = and(visibleUsers(ctx.user), withRoleIn(filter.team_id), search(["name", "email"], filter.query ?? ""));
  const { rows, meta } = await page(ctx.store.users, filter, where);
  return { users: await viewUsers(ctx, rows), meta };
}

export async function getUser(ctx: Context, id: number, options: { include_ui_settings: boolean }) {
  const { user } = await visibleAccount(ctx, id);
  const viewer = id === ctx.user.id ? ctx.user : await viewerOf(ctx.store, user, null);
  return {
    user: await viewUser(ctx, user),
    available_teams: await availableTeams(ctx, viewer),
    ...(options.include_ui_settings ? { settings: shownSettings(ctx, user) } : {}),
  };
}

/** The caller, and the API token with which it is authenticated. */
export async function getMe(ctx: Context, options: { include_ui_settings: boolean }) {
  const { token_name: name, token_endpoints: endpoints } = ctx.user;
  const token = isToken(ctx.user) ? { token: { name, endpoints: endpoints === null ? null : [...endpoints] } } : {};
  return { ...(await getUser(ctx, ctx.user.id, options)), ...token };
}

/** 409 if another user has the address or an invite to it is pending. */
export async function checkEmailFree(
  { store, clock }: Pick<Context, "store" | "clock">,
  email: string,
  but = 0,
): Promise<void> {
  const holder = await store.users.first({ where: eq("email", email) });
  if (holder && holder.id !== but) throw alreadyExists(`a user with the email ${email} exists`);
  const invited = holder ? null : await store.invites.first({ where: eq("email", email) });
  if (invited && !hasExpired({ clock }, invited)) throw alreadyExists(`${email} is invited already`);
}

export async function createUser(ctx: Context, input: CreateUser): Promise<{ user: User; token?: string }> {
  const email = cleanEmail(input.email);
  checkGravatar(input.gravatar_url);
  const apiOnly = input.api_only ?? false;
  const sso = input.sso_enabled ?? false;
  const roles = await rolesAfter(ctx, noRoles, input, apiOnly);
  // On the free tier the field is ignored, as in the API's reference.
  const mfa = input.mfa_enabled === true && isPremium(ctx);
  const password = checkSignIn(input);
  if (mfa) await checkMfa(ctx, { sso, apiOnly });
  await checkEmailFree(ctx, email);
  const passwordHash = password === null ? null : await hashPassword(password);
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      await checkEmailFree(inside, email);
      const user = await addUser(
        inside,
        {
          name: input.name,
          email,
          password_hash: passwordHash,
          force_password_reset: !sso && input.admin_forced_password_reset,
          gravatar_url: input.gravatar_url ?? "",
          position: input.position ?? "",
          sso_enabled: sso,
          mfa_enabled: mfa,
          api_only: apiOnly,
        },
        roles,
      );
      await recordActivity(inside, "created_user", aboutUser(user));
      const token = apiOnly && !sso ? await createSession(inside, user.id) : undefined;
      return { user: await viewUser(inside, user), ...(token === undefined ? {} : { token }) };
    },
    { lock: "users" },
  );
}

/** The password of the new user. Null for single sign-on. */
function checkSignIn(input: CreateUser): string | null {
  if (input.sso_enabled && input.mfa_enabled)
    throw conflict("single sign-on and multi-factor authentication cannot be used together");
  if (input.sso_enabled) {
    if (input.password !== undefined) throw invalid("password", "not allowed for users of single sign-on");
    return null;
  }
  if (input.password === undefined || input.password === "") throw invalid("password", "must be given");
  checkPassword("password", input.password);
  return input.password;
}

export async function deleteUser(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const { user, roles } = await managedAccount(inside, id);
      await keepAnAdmin(inside, roles, noRoles);
      await recordActivity(inside, "deleted_user", aboutUser(user));
      await store.users.delete(eq("id", id));
      await sessionsChanged(inside, [id]);
    },
    { lock: "users" },
  );
  return {};
}

export async function requirePasswordReset(ctx: Context, id: number, required: boolean): Promise<{ user: User }> {
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const { user } = await managedAccount(inside, id);
      if (user.sso_enabled) throw invalid("require", "users of single sign-on have no password here");
      await store.users.update({
        where: eq("id", id),
        set: { force_password_reset: required, updated_at: ctx.clock.iso() },
      });
      await recordActivity(inside, "required_user_password_reset", { ...aboutUser(user), required });
      if (required) {
        await endTokens(inside, id);
        await endSessions(inside, [id]);
      }
      return { user: await viewUser(inside, (await store.users.get(id))!) };
    },
    { lock: "users" },
  );
}
