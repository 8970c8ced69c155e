import type { RolesSpec } from "../../../api/accounts/users.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, badRequest, notFound, roleError } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { endSessionsOfChangedRoles } from "../sessions/service.ts";
import { type Account, checkListedTeams, visibleAccount } from "./access.ts";
import { type RolesInput, rolesAfter, writeRoles } from "./roles.ts";
import { cleanEmail } from "./rules.ts";

/** Sets the roles of all listed users, or of none if one of them is not allowed. */
export async function applyRoles(ctx: Context, { roles }: RolesSpec): Promise<Record<string, never>> {
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const teams = await teamsNamed(inside, roles);
      const admins = () => store.users.count(eq("global_role", "admin"));
      const before = await admins();
      const userIds = new Set<number>();
      const changed: number[] = [];
      for (const [email, desired] of Object.entries(roles)) {
        const account = await accountOf(inside, email);
        if (userIds.has(account.user.id)) throw badRequest(`${email} is given twice`, "roles");
        userIds.add(account.user.id);
        const input = {
          global_role: desired.global_role ?? null,
          teams: (desired.teams ?? []).map(({ team, role }) => ({ id: teams.get(nameKey(team))!, role })),
        } satisfies RolesInput;
        checkListedTeams(
          inside,
          account.user.id,
          input.teams.map(({ id }) => id),
        );
        const after = await rolesAfter(inside, account.roles, input, account.user.api_only);
        if (await writeRoles(inside, account.user, account.roles, after)) changed.push(account.user.id);
      }
      // Checked at the end, because a new admin may be listed after the old one.
      if (before > 0 && (await admins()) === 0) throw roleError(2, "cannot remove the last global admin");
      await endSessionsOfChangedRoles(inside, changed);
    },
    { lock: "users" },
  );
  return {};
}

async function accountOf(ctx: Context, email: string): Promise<Account> {
  const user = await ctx.store.users.first({ where: eq("email", cleanEmail(email)) });
  const missing = notFound("user", email.slice(0, 255));
  if (!user) throw missing;
  return visibleAccount(ctx, user.id).catch((error: unknown) => {
    throw error instanceof ApiError ? missing : error;
  });
}

/** The ids of the teams, by normalized name. */
async function teamsNamed({ store }: Context, roles: RolesSpec["roles"]): Promise<Map<string, number>> {
  const names = Object.values(roles).flatMap(({ teams }) => (teams ?? []).map(({ team }) => team));
  const rows = await store.teams.pick(["id", "name_key"], {
    where: oneOf("name_key", [...new Set(names.map(nameKey))]),
  });
  const ids = new Map(rows.map(({ id, name_key }) => [name_key, id]));
  const unknown = names.find((name) => !ids.has(nameKey(name)));
  if (unknown !== undefined) throw badRequest(`team ${unknown} was not found in the datastore`, "teams.team");
  return ids;
}
