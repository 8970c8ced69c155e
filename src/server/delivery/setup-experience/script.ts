// The script that hosts of a team run at the end of their setup.

import type { Content } from "../../../api/bodies.ts";
import type { SetupScript } from "../../../api/delivery/setup-experience.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { alreadyExists, notThere } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, exists } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { type TeamScope, teamScope } from "../../settings/teams/access.ts";
import { checkVariables, type VariableUser } from "../../settings/variables/use.ts";
import { keepText, scriptText } from "../../software/script-texts/texts.ts";
import { readScript, type ScriptFile } from "../scripts/file.ts";
import { type SetupScriptRow, setupScripts } from "./tables.ts";

const FIELD = "script";
type TeamId = number | undefined;

export const scriptOfTeam = (store: ServerTx, teamId: number | null): Promise<SetupScriptRow | null> =>
  store.setupScripts.first({ where: eq("team_key", keyOf(teamId)) });

const keyOf = (teamId: number | null): string => String(teamId ?? "none");
const hosts = ({ team_name }: TeamScope): string =>
  team_name === null ? "hosts without a team" : `the team ${team_name}`;

async function requireScript(store: ServerTx, team: TeamScope): Promise<SetupScriptRow> {
  const script = await scriptOfTeam(store, team.team_id);
  if (script === null) throw notThere(`there is no setup script for ${hosts(team)}`);
  return script;
}

export async function addSetupScript(ctx: Context, teamId: TeamId, file: ScriptFile): Promise<Record<string, never>> {
  const team = await teamScope(ctx, "setup:write", teamId);
  const text = readScript(file, FIELD);
  await ctx.store.tx((store) => insertSetupScript(within(ctx, store), team, { name: file.name, text, field: FIELD }));
  return {};
}

interface NewScript {
  readonly name: string;
  readonly text: string;
  /** Field of the text, in errors. */
  readonly field: string;
}

/** In the caller's transaction. 409 if the team has one already. */
export async function insertSetupScript(
  inside: Context,
  team: TeamScope,
  { name, text, field }: NewScript,
): Promise<void> {
  const { store, clock } = inside;
  const exist = () => alreadyExists(`there is a setup script for ${hosts(team)} already: delete it first`);
  await checkVariables(store, text, field, { use: "scripts", teamId: team.team_id });
  if ((await scriptOfTeam(store, team.team_id)) !== null) throw exist();
  const now = clock.iso();
  const row = { team_key: keyOf(team.team_id), team_id: team.team_id, name, created_at: now };
  try {
    await store.setupScripts.insert({ ...row, text_id: await keepText(store, text), updated_at: now });
  } catch (error) {
    throw error instanceof UniqueViolation ? exist() : error;
  }
  await recordActivity(inside, "added_script", { script_name: name, ...team });
}

export async function getSetupScript(ctx: Context, teamId: TeamId): Promise<SetupScript> {
  const row = await requireScript(ctx.store, await teamScope(ctx, "setup:read", teamId));
  const { id, team_id, name, created_at, updated_at } = row;
  return { id, team_id: team_id ?? 0, name, created_at, updated_at };
}

export async function downloadSetupScript(ctx: Context, teamId: TeamId): Promise<Content> {
  const { text_id, name } = await requireScript(ctx.store, await teamScope(ctx, "setup:read", teamId));
  const content = new TextEncoder().encode(await scriptText(ctx.store, text_id));
  return { content, type: "application/octet-stream", name: `${ctx.clock.iso().slice(0, 10)} ${name}` };
}

export async function deleteSetupScript(ctx: Context, teamId: TeamId): Promise<Record<string, never>> {
  const team = await teamScope(ctx, "setup:write", teamId);
  await ctx.store.tx(async (store) => removeSetupScript(within(ctx, store), team, await requireScript(store, team)));
  return {};
}

/** In the caller's transaction. */
export async function removeSetupScript(inside: Context, team: TeamScope, { id, name }: SetupScriptRow): Promise<void> {
  await inside.store.setupScripts.delete(eq("id", id));
  await recordActivity(inside, "deleted_script", { script_name: name, ...team });
}

export const setupScriptsUseVariables: VariableUser = {
  async findUse(store, isUsedIn) {
    for await (const texts of store.scriptTexts.pages({ where: exists(setupScripts, "text_id") }, 50))
      for (const { id, content } of texts) {
        if (!isUsedIn(content)) continue;
        const script = await store.setupScripts.first({ where: eq("text_id", id) });
        if (script) return `the setup script ${JSON.stringify(script.name)}`;
      }
    return null;
  },
};
