import type { z } from "zod";
import type { TeamRole } from "../../../api/accounts/users.ts";
import type { Team } from "../../../api/settings/teams.ts";
import { putOnTeam, takeOffTeam } from "../../accounts/users/membership.ts";
import { listUsers, type UserFilter } from "../../accounts/users/service.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { getTeamRow } from "./access.ts";
import { viewTeamWithUsers } from "./view.ts";

export async function listTeamUsers(ctx: Context, id: number, filter: Omit<UserFilter, "team_id">) {
  await getTeamRow(ctx, "users:list", id);
  return listUsers(ctx, { ...filter, team_id: id });
}

const changeUsers = (ctx: Context, id: number, change: (inside: Context) => Promise<void>): Promise<{ team: Team }> =>
  ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const team = await getTeamRow(inside, "teams:edit", id);
      await change(inside);
      return { team: await viewTeamWithUsers(inside, team) };
    },
    { lock: "users" },
  );

export const addTeamUsers = (ctx: Context, id: number, users: readonly z.infer<typeof TeamRole>[]) =>
  changeUsers(ctx, id, (inside) => putOnTeam(inside, id, users));

export const removeTeamUsers = (ctx: Context, id: number, users: readonly { id: number }[]) =>
  changeUsers(ctx, id, (inside) =>
    takeOffTeam(
      inside,
      id,
      users.map((user) => user.id),
    ),
  );
