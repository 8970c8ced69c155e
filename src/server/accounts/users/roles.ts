// The rules for assigning roles, and the effects of a change.
import { apiOnlyRoles, premiumRoles, type Role, roles as roleNames } from "../../../api/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, roleError } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { authorize, may } from "../../platform/core/security/access.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { sessionsChanged } from "../sessions/streams.ts";
import type { RoleSet } from "./access.ts";

export interface RolesInput {
  readonly global_role?: string | null | undefined;
  readonly teams?: readonly { readonly id: number; readonly role: string }[] | undefined;
}

export const noRoles: RoleSet = { global: null, teams: new Map() };

export function parseRole(name: string): Role {
  const role = roleNames.find((roleName) => roleName === name);
  if (!role) throw roleError(1, `invalid role: ${name.slice(0, 100)}`);
  return role;
}

/** Some roles are only for API-only users. Premium roles and team roles require the premium tier. */
export function checkRole(
  ctx: Context,
  role: Role,
  user: { readonly apiOnly: boolean; readonly onTeam: boolean },
): void {
  if (apiOnlyRoles.includes(role) && !user.apiOnly)
    throw roleError(4, `role ${role} can only be set for API-only users`);
  if (user.onTeam || premiumRoles.includes(role)) needPremium(ctx);
}

/**
 * The roles after a change. A global role replaces the team roles, and the other way round. In a team admin's list,
 * only the teams that it manages count; roles on other teams are kept.
 */
export async function rolesAfter(ctx: Context, before: RoleSet, input: RolesInput, apiOnly: boolean): Promise<RoleSet> {
  const after = merged(ctx, before, input);
  const changed = differences(before, after);
  if (after.global === null && after.teams.size === 0 && (changed.length > 0 || before === noRoles))
    throw roleError(1, "either a global role or team roles must be given");
  for (const { team } of changed) authorize(ctx, "users:write", team);
  for (const { team, to } of changed) if (to) checkRole(ctx, to, { apiOnly, onTeam: team !== null });
  const added = changed.flatMap(({ team, to }) => (team !== null && to ? [team] : []));
  const existing = new Set((await ctx.store.teams.getMany(added)).map(({ id }) => id));
  const unknown = added.find((id) => !existing.has(id));
  if (unknown !== undefined) throw invalid("teams.id", `team ${unknown} was not found in the datastore`);
  return after;
}

function merged(ctx: Context, before: RoleSet, input: RolesInput): RoleSet {
  const desired = parseTeams(input.teams ?? []);
  if (input.global_role !== undefined && input.global_role !== null) {
    if (desired.size > 0) throw roleError(1, "a user has either a global role or team roles, not both");
    return { global: parseRole(input.global_role), teams: new Map() };
  }
  const emptyBesideGlobal = desired.size === 0 && before.global !== null && input.global_role === undefined;
  if (input.teams === undefined || emptyBesideGlobal)
    return input.global_role === null ? { global: null, teams: before.teams } : before;
  const unmanaged = [...before.teams].filter(([team]) => !may(ctx.user, "users:write", team));
  return { global: null, teams: new Map([...unmanaged, ...desired]) };
}

function parseTeams(input: NonNullable<RolesInput["teams"]>): Map<number, Role> {
  const teams = new Map<number, Role>();
  for (const { id, role } of input) {
    if (teams.has(id)) throw invalid("teams.id", `team ${id} is given twice`);
    teams.set(id, parseRole(role));
  }
  return teams;
}

interface Difference {
  /** Null means the global role. */
  readonly team: number | null;
  readonly from: Role | null;
  readonly to: Role | null;
}

function differences(before: RoleSet, after: RoleSet): Difference[] {
  const teams = new Set([...before.teams.keys(), ...after.teams.keys()]);
  return [
    { team: null, from: before.global, to: after.global },
    ...[...teams].map((team) => ({ team, from: before.teams.get(team) ?? null, to: after.teams.get(team) ?? null })),
  ].filter(({ from, to }) => from !== to);
}

/** 422 with code 2 if no global admin would be left. Call it in a transaction that holds the users lock. */
export async function keepAnAdmin(ctx: Context, before: RoleSet, after: RoleSet): Promise<void> {
  if (before.global !== "admin" || after.global === "admin") return;
  if ((await ctx.store.users.count(eq("global_role", "admin"))) <= 1)
    throw roleError(2, "cannot remove the last global admin");
}

/**
 * Writes the roles and records one activity for each added, changed or removed role. Returns whether there were any.
 */
export async function writeRoles(ctx: Context, user: UserRow, before: RoleSet, after: RoleSet): Promise<boolean> {
  const changed = differences(before, after);
  const { store } = ctx;
  if (before.global !== after.global)
    await store.users.update({ where: eq("id", user.id), set: { global_role: after.global } });
  const gone = changed.flatMap(({ team, to }) => (team !== null && to === null ? [team] : []));
  if (gone.length > 0) await store.userTeams.delete(and(eq("user_id", user.id), oneOf("team_id", gone)));
  const teamRoles = changed.flatMap(({ team, to }) => (team !== null && to ? [{ team_id: team, role: to }] : []));
  if (teamRoles.length > 0)
    await store.userTeams.upsert(
      teamRoles.map((role) => ({ user_id: user.id, ...role })),
      { on: ["user_id", "team_id"] },
    );
  await recordRoleChanges(ctx, user, changed);
  return changed.length > 0;
}

/** Sets the time of the account's last change. */
export async function markEdited({ store, clock }: Pick<Context, "store" | "clock">, id: number): Promise<void> {
  await store.users.update({ where: eq("id", id), set: { updated_at: clock.iso() } });
}

export async function recordRoleChanges(ctx: Context, user: UserRow, changed: readonly Difference[]): Promise<void> {
  if (changed.length > 0) await sessionsChanged(ctx, [user.id]);
  const who = { user_id: user.id, user_name: user.name, user_email: user.email };
  const rows = await ctx.store.teams.getMany(changed.flatMap(({ team }) => (team === null ? [] : [team])));
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  for (const { team, from, to } of changed) {
    const role = (to ?? from)!;
    if (team === null)
      await recordActivity(ctx, to ? "changed_user_global_role" : "deleted_user_global_role", { ...who, role });
    else
      await recordActivity(ctx, to ? "changed_user_team_role" : "deleted_user_team_role", {
        ...who,
        role,
        team_id: team,
        team_name: nameOf.get(team) ?? "",
      });
  }
}
