// Accounts of people who sign in by single sign-on, made and kept as the identity provider says.
import { recordActivity } from "../activities/record.ts";
import { type Context, service, within } from "../core/context.ts";
import { spendInvite } from "../invites/spend.ts";
import { endSessions } from "../sessions/service.ts";
import { eq } from "../store/query.ts";
import { type Account, managedAccount } from "./access.ts";
import { type GivenRoles, keepAnAdmin, noRoles, rolesAfter, writeRoles } from "./roles.ts";
import { type UserRow, viewerOf } from "./viewer.ts";

export interface SsoPerson {
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** What the identity provider says of roles; null: nothing. */
  readonly roles: GivenRoles | null;
}

export const userOfEmail = ({ store }: Pick<Context, "store">, email: string): Promise<UserRow | null> =>
  store.users.first({ where: eq("email", email) });

/**
 * Makes the account at the first sign-in, with the roles that the identity provider says, else those of an invite that waits for the
 * person, else as observer. Call it in a transaction that holds the users lock.
 */
export async function addSsoUser(ctx: Context, { email, name, roles }: SsoPerson): Promise<UserRow> {
  const invited = await spendInvite(ctx, email);
  const given = roles ?? invited?.roles ?? { global_role: "observer" };
  const held = await rolesAfter({ ...ctx, user: service }, noRoles, given, false);
  const now = ctx.clock.iso();
  const user = await ctx.store.users.insert({
    created_at: now,
    updated_at: now,
    name,
    email,
    position: invited?.position ?? "",
    sso_enabled: true,
    global_role: held.global,
  });
  if (held.teams.size > 0)
    await ctx.store.userTeams.insertMany(
      [...held.teams].map(([team_id, role]) => ({ user_id: user.id, team_id, role })),
    );
  await recordActivity({ ...ctx, user: await viewerOf(ctx.store, user, null) }, "user_added_by_sso", {});
  return user;
}

/** Gives the account the roles that the identity provider says. Sessions with other roles end. Call it as `addSsoUser`. */
export async function followSsoRoles(ctx: Context, id: number, given: GivenRoles): Promise<void> {
  const inside = within({ ...ctx, user: service }, ctx.store);
  const { user, roles }: Account = await managedAccount(inside, id);
  const after = await rolesAfter(inside, roles, given, user.api_only);
  await keepAnAdmin(inside, roles, after);
  if (!(await writeRoles(inside, user, roles, after))) return;
  await ctx.store.users.update({ where: eq("id", id), set: { updated_at: ctx.clock.iso() } });
  await endSessions(inside, [id]);
}
