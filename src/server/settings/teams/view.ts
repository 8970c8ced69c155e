import { MASK } from "../../../api/fields.ts";
import type { Team } from "../../../api/settings/teams.ts";
import { viewUsers } from "../../accounts/users/view.ts";
import type { Context } from "../../platform/core/context.ts";
import { may } from "../../platform/core/security/access.ts";
import { oneOf } from "../../platform/store/query.ts";
import { viewSecret } from "../enroll-secrets/service.ts";
import type { TeamRow } from "./access.ts";
import { shownSettings } from "./settings.ts";

/** Renders teams with counts and secrets. Needs four reads for any number of teams. */
export async function viewTeams(ctx: Context, rows: readonly TeamRow[]): Promise<Team[]> {
  const { store } = ctx;
  const ids = rows.map(({ id }) => id);
  const ofThese = oneOf("team_id", ids);
  const users = countsOf(await store.userTeams.groupCount("team_id", ofThese));
  const hosts = countsOf(await store.hosts.groupCount("team_id", ofThese));
  const secrets = await store.enrollSecrets.list({ where: ofThese });
  const secretsOf = new Map<number | null, typeof secrets>(ids.map((id) => [id, []]));
  for (const secret of secrets) secretsOf.get(secret.team_id)?.push(secret);
  return rows.map((row) => {
    const shown = may(ctx.user, "enroll_secrets:read", row.id);
    return {
      id: row.id,
      created_at: row.created_at,
      name: row.name,
      description: row.description,
      agent_options: row.agent_options,
      ...shownSettings(row.settings),
      scripts: [],
      software: null,
      user_count: users.get(row.id) ?? 0,
      host_count: hosts.get(row.id) ?? 0,
      secrets: (secretsOf.get(row.id) ?? []).map((secret) => ({
        ...viewSecret(secret),
        ...(shown ? {} : { secret: MASK }),
      })),
    };
  });
}

const countsOf = (groups: readonly { value: unknown; count: number }[]) =>
  new Map(groups.map(({ value, count }) => [value as number, count]));

export const viewTeam = async (ctx: Context, row: TeamRow): Promise<Team> => (await viewTeams(ctx, [row]))[0]!;

/** The team with its users and their roles on it. */
export async function viewTeamWithUsers(ctx: Context, row: TeamRow): Promise<Team> {
  const memberships = await ctx.store.userTeams.list({ where: oneOf("team_id", [row.id]) });
  const roleOf = new Map(memberships.map(({ user_id, role }) => [user_id, role]));
  const users = await viewUsers(ctx, await ctx.store.users.getMany([...roleOf.keys()]));
  return {
    ...(await viewTeam(ctx, row)),
    users: users.map((user) => ({ ...user, role: roleOf.get(user.id)! })),
  };
}
