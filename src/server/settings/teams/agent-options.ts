import { isDeepStrictEqual } from "node:util";
import type { AgentOptions } from "../../../api/settings/app-config.ts";
import type { Team } from "../../../api/settings/teams.ts";
import { recordActivities } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { parseAgentOptions } from "../app-config/agent-options.ts";
import { getTeamRow, type TeamRow } from "./access.ts";
import { viewTeam } from "./view.ts";

/** Replaces the team's agent options. `null` removes them; then the organization's options apply. */
export async function setTeamAgentOptions(
  ctx: Context,
  id: number,
  input: unknown,
  query: { force: boolean },
): Promise<{ team: Team }> {
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const team = await getTeamRow(inside, "teams:edit", id);
      const options = input === null ? null : parseAgentOptions(input, { force: query.force, at: "" });
      await write(inside, team, options);
      return { team: await viewTeam(inside, { ...team, agent_options: options }) };
    },
    { lock: "teams" },
  );
}

const write = (ctx: Context, before: TeamRow, options: AgentOptions | null) =>
  writeAgentOptions(ctx, [{ before, options }]);

/** Writes and announces the differences, in the caller's transaction, which must hold the lock "teams". */
export async function writeAgentOptions(
  ctx: Context,
  writes: readonly { readonly before: TeamRow; readonly options: AgentOptions | null }[],
): Promise<void> {
  const changes = writes.filter(({ before, options }) => !isDeepStrictEqual(options, before.agent_options));
  if (changes.length === 0) return;
  const now = ctx.clock.iso();
  await ctx.store.teams.updateEach(
    changes.map(({ before, options }) => ({ id: before.id, agent_options: options, updated_at: now })),
  );
  await recordActivities(
    ctx,
    "edited_agent_options",
    changes.map(({ before }) => ({ global: false, team_id: before.id, team_name: before.name })),
  );
  await ctx.store.notify(channels.teams, changes.length === 1 ? String(changes[0]!.before.id) : "*");
}
