// Replaces all saved scripts of a team: those that are not in the list are deleted, those with the same name changed.
import type { z } from "zod";
import type { scriptsApi } from "../../../api/delivery/scripts.ts";
import { bytesOfBase64 } from "../../../text/base64.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { invalid, premiumRequired } from "../../platform/core/errors.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { eq } from "../../platform/store/query.ts";
import { type TeamScope, teamIdGiven, teamScope } from "../../settings/teams/access.ts";
import { checkVariables } from "../../settings/variables/use.ts";
import { keepText } from "../../software/script-texts/texts.ts";
import type { ScriptRow } from "./access.ts";
import { readScriptAsIs } from "./file.ts";
import { removeScripts } from "./remove.ts";
import { SCRIPT_CHANGES } from "./saved.ts";

type Query = z.output<typeof scriptsApi.replace.query>;
type Body = z.output<typeof scriptsApi.replace.body>;

interface DesiredScript {
  readonly name: string;
  readonly text: string;
  /** Field of the input, for errors. */
  readonly field: string;
}

export async function replaceScripts(ctx: Context, query: Query, body: Body) {
  if ((query.team_id !== undefined || query.team_name !== undefined) && !isPremium(ctx)) throw premiumRequired();
  const team = await teamScope(ctx, "scripts:write", await teamIdGiven(ctx, query));
  const desired = readAll(body.scripts);
  const rows = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const before = await store.scripts.list({ where: inTeam(team.team_id ?? 0) });
    const names = new Set(desired.map(({ name }) => name));
    const gone = before.filter(({ name }) => !names.has(name));
    const written = await putScripts(inside, team, before, desired);
    await removeScripts(store, gone);
    if (written.isChanged || gone.length > 0) await recordActivity(inside, "edited_script", { ...team });
    return written.rows;
  }, SCRIPT_CHANGES);
  return { scripts: ctx.dryRun === null ? rows.map(({ team_id, id, name }) => ({ team_id, id, name })) : null };
}

function readAll(items: Body["scripts"]): DesiredScript[] {
  const names = new Set<string>();
  return items.map(({ name, script_contents }, i) => {
    const field = `scripts.${i}`;
    const bytes = bytesOfBase64(script_contents);
    if (bytes === null) throw invalid(`${field}.script_contents`, "the script is not base64");
    if (names.has(name)) throw invalid(`${field}.name`, `the name ${JSON.stringify(name)} occurs more than once`);
    names.add(name);
    return { name, text: readScriptAsIs({ bytes, name }, field), field };
  });
}

interface Put {
  /** In the order of the wanted ones. */
  readonly rows: readonly ScriptRow[];
  readonly isChanged: boolean;
}

/** Creates and changes scripts in the caller's transaction. `before`: those of the team with these names, or all. */
export async function putScripts(
  { store, clock }: Context,
  { team_id }: TeamScope,
  before: readonly ScriptRow[],
  desired: readonly DesiredScript[],
): Promise<Put> {
  const now = clock.iso();
  const existing = new Map(before.map((row) => [row.name, row]));
  const rows: ScriptRow[] = [];
  let isChanged = false;
  for (const { name, text, field } of desired) {
    await checkVariables(store, text, field, { use: "scripts", teamId: team_id });
    const text_id = await keepText(store, text);
    const row = existing.get(name);
    if (row?.text_id === text_id) rows.push(row);
    else if (row) {
      const set = { text_id, updated_at: now };
      await store.scripts.update({ where: eq("id", row.id), set });
      rows.push({ ...row, ...set });
    } else rows.push(await store.scripts.insert({ team_id, name, text_id, created_at: now, updated_at: now }));
    isChanged ||= row?.text_id !== text_id;
  }
  return { rows, isChanged };
}
