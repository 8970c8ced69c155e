// Accounts of users with single sign-on, created and updated from the data of the identity provider.
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, service, within } from "../../platform/core/context.ts";
import { type UserRow, viewerOf } from "../../platform/core/security/viewer.ts";
import { eq } from "../../platform/store/query.ts";
import { spendInvite } from "../invites/spend.ts";
import { endSessions } from "../sessions/service.ts";
import { type Account, managedAccount } from "../users/access.ts";
import { addUser } from "../users/add.ts";
import { keepAnAdmin, markEdited, noRoles, type RolesInput, rolesAfter, writeRoles } from "../users/roles.ts";

export interface SsoPerson {
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** The roles from the identity provider. Null if it sends none. */
  readonly roles: RolesInput | null;
}

export const userOfEmail = ({ store }: Pick<Context, "store">, email: string): Promise<UserRow | null> =>
  store.users.first({ where: eq("email", email) });

/**
 * Creates the account at the first sign-in. Its roles are those from the identity provider, otherwise those of a
 * pending invite, otherwise observer. Call it in a transaction that holds the users lock.
 */
export async function addSsoUser(ctx: Context, { email, name, roles }: SsoPerson): Promise<UserRow> {
  const invited = await spendInvite(ctx, email);
  const input = roles ?? invited?.roles ?? { global_role: "observer" };
  const roleSet = await rolesAfter({ ...ctx, user: service }, noRoles, input, false);
  const user = await addUser(ctx, { name, email, position: invited?.position ?? "", sso_enabled: true }, roleSet);
  await recordActivity({ ...ctx, user: await viewerOf(ctx.store, user, null) }, "user_added_by_sso", {});
  return user;
}

/**
 * Gives the account the roles from the identity provider. A change ends its sessions. Call it in the same way as
 * `addSsoUser`.
 */
export async function followSsoRoles(ctx: Context, id: number, input: RolesInput): Promise<void> {
  const inside = within({ ...ctx, user: service }, ctx.store);
  const { user, roles }: Account = await managedAccount(inside, id);
  const after = await rolesAfter(inside, roles, input, user.api_only);
  await keepAnAdmin(inside, roles, after);
  if (!(await writeRoles(inside, user, roles, after))) return;
  await markEdited(inside, id);
  await endSessions(inside, [id]);
}
