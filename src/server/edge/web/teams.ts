import { usersApi } from "../../../api/accounts/users.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { call } from "./call.ts";
import type { Choice } from "./parts.ts";

/** The teams that the viewer can select. Empty if there is no choice. */
export async function teamChoices(ctx: Context): Promise<Choice[]> {
  if (!isPremium(ctx)) return [];
  const { available_teams: teams } = await call(ctx, usersApi.me);
  if (teams.length === 0) return [];
  return [
    { value: "", text: ctx.user.global_role === null ? "All my teams" : "All teams" },
    ...(ctx.user.global_role === null ? [] : [{ value: "0", text: "No team" }]),
    ...teams.map(({ id, name }) => ({ value: String(id), text: name })),
  ];
}
