import { isDeepStrictEqual } from "node:util";
import type { AgentOptions } from "../../api/app-config.ts";
import type { Team } from "../../api/teams.ts";
import { recordActivity } from "../activities/record.ts";
import { parseAgentOptions } from "../app-config/agent-options.ts";
import { channels } from "../core/channels.ts";
import { type Context, within } from "../core/context.ts";
import { eq } from "../store/query.ts";
import { getTeamRow, type TeamRow } from "./access.ts";
import { viewTeam } from "./view.ts";

/** Replaces the team's agent options; `null` takes them away, then the organization's hold. */
export async function setTeamAgentOptions(
  ctx: Context,
  id: number,
  given: unknown,
  query: { force: boolean; dry_run: boolean },
): Promise<{ team: Team }> {
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const team = await getTeamRow(inside, "teams:edit", id);
      const options = given === null ? null : parseAgentOptions(given, { force: query.force, at: "" });
      if (!query.dry_run) await write(inside, team, options);
      return { team: await viewTeam(inside, { ...team, agent_options: options }) };
    },
    { lock: "teams" },
  );
}

async function write(ctx: Context, team: TeamRow, options: AgentOptions | null): Promise<void> {
  if (isDeepStrictEqual(options, team.agent_options)) return;
  await ctx.store.teams.update({
    where: eq("id", team.id),
    set: { agent_options: options, updated_at: ctx.clock.iso() },
  });
  await recordActivity(ctx, "edited_agent_options", { global: false, team_id: team.id, team_name: team.name });
  await ctx.store.notify(channels.teams, String(team.id));
}
