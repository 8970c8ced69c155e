// Saved scripts: lists, uploads, changes.

import type { z } from "zod";
import type { Content } from "../../../api/bodies.ts";
import type { HostScript, Script, scriptsApi } from "../../../api/delivery/scripts.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { ApiError, premiumRequired } from "../../platform/core/errors.ts";
import { page, pageOfArray } from "../../platform/core/http/paging.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";
import { type TeamScope, teamScope } from "../../settings/teams/access.ts";
import { checkVariables } from "../../settings/variables/use.ts";
import { extensionOf, keepText, runsOn, scriptText } from "../../software/script-texts/texts.ts";
import { type ScriptRow, scriptFor } from "./access.ts";
import { readScript, type ScriptFile } from "./file.ts";
import { removeScripts } from "./remove.ts";

const FIELD = "script";
/** Serializes changes of scripts, so that a script that was just named is not deleted. */
export const SCRIPT_CHANGES = { lock: "scripts" } as const;

const onWire = ({ id, team_id, name, created_at, updated_at }: ScriptRow): Script => ({
  id,
  team_id,
  name,
  created_at,
  updated_at,
});

export async function listScripts(ctx: Context, query: z.output<typeof scriptsApi.list.query>) {
  const { team_id } = await teamScope(ctx, "scripts:read", query.team_id);
  const { rows, meta } = await page(ctx.store.scripts, query, inTeam(team_id ?? 0), {
    defaultOrder: [{ column: "name", direction: "asc" }],
  });
  return { scripts: rows.map(onWire), meta };
}

export const getScript = async (ctx: Context, id: number): Promise<Script> =>
  onWire(await scriptFor(ctx, "scripts:read", id));

export async function downloadScript(ctx: Context, id: number): Promise<Content> {
  const { text_id, name } = await scriptFor(ctx, "scripts:read", id);
  const content = new TextEncoder().encode(await scriptText(ctx.store, text_id));
  return { content, type: "application/octet-stream", name: `${ctx.clock.iso().slice(0, 10)} ${name}` };
}

export async function createScript(
  ctx: Context,
  teamId: number | undefined,
  file: ScriptFile,
): Promise<{ script_id: number }> {
  if (teamId !== undefined && !isPremium(ctx)) throw premiumRequired();
  const team = await teamScope(ctx, "scripts:write", teamId);
  const text = readScript(file, FIELD);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await checkVariables(store, text, FIELD, { use: "scripts", teamId: team.team_id });
    const same = and(inTeam(team.team_id ?? 0), eq("name", file.name));
    if ((await store.scripts.first({ where: same })) !== null)
      throw new ApiError(409, "Resource Already Exists", [
        { name: FIELD, reason: `a script with the name ${JSON.stringify(file.name)} already exists` },
      ]);
    const now = ctx.clock.iso();
    const text_id = await keepText(store, text);
    const row = await store.scripts.insert({
      team_id: team.team_id,
      name: file.name,
      text_id,
      created_at: now,
      updated_at: now,
    });
    await record(inside, "added_script", row, team);
    return { script_id: row.id };
  }, SCRIPT_CHANGES);
}

export async function updateScript(
  ctx: Context,
  id: number,
  { script: file, team_id }: z.output<typeof scriptsApi.update.body>,
): Promise<Script> {
  const script = await scriptFor(ctx, "scripts:write", id);
  checkUnchanged({ team_id }, { team_id: script.team_id ?? 0 });
  const text = readScript(file, FIELD, script.name);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await checkVariables(store, text, FIELD, { use: "scripts", teamId: script.team_id });
    const text_id = await keepText(store, text);
    if (text_id === script.text_id) return onWire(script);
    const set = { text_id, updated_at: ctx.clock.iso() };
    await store.scripts.update({ where: eq("id", id), set });
    await record(inside, "updated_script", script, await teamOf(inside, script));
    return onWire({ ...script, ...set });
  }, SCRIPT_CHANGES);
}

export async function deleteScript(ctx: Context, id: number): Promise<Record<string, never>> {
  const script = await scriptFor(ctx, "scripts:write", id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    await removeScripts(store, [script]);
    await record(inside, "deleted_script", script, await teamOf(inside, script));
  }, SCRIPT_CHANGES);
  return {};
}

async function teamOf({ store }: Context, { team_id }: ScriptRow): Promise<TeamScope> {
  const team = team_id === null ? null : await store.teams.get(team_id);
  return { team_id, team_name: team?.name ?? null };
}

const record = (
  inside: Context,
  type: "added_script" | "updated_script" | "deleted_script",
  { name }: ScriptRow,
  team: TeamScope,
): Promise<number> => recordActivity(inside, type, { script_name: name, ...team });

/** The scripts of the host's team that fit its platform, each with its last run there. */
export async function scriptsOfHost(ctx: Context, hostId: number, query: z.output<typeof scriptsApi.ofHost.query>) {
  const host = await hostFor(ctx, "scripts:read", hostId);
  const rows = (await ctx.store.scripts.list({ where: inTeam(host.team_id ?? 0) })).filter(({ name }) =>
    runsOn(extensionOf(name, FIELD), host.platform, host.platform_like),
  );
  const sign = query.order_direction === "desc" ? -1 : 1;
  rows.sort((a, b) => sign * (compareText(a.name, b.name) || a.id - b.id));
  const { after } = query;
  const following = after === undefined ? rows : rows.filter(({ name }) => sign * compareText(name, after) > 0);
  const { items, meta } = pageOfArray(following, query);
  const runs = await ctx.store.scriptExecutions.list({
    where: and(
      eq("host_id", hostId),
      oneOf(
        "script_id",
        items.map(({ id }) => id),
      ),
    ),
    order: [{ column: "id", direction: "asc" }],
  });
  const last = new Map(runs.filter(({ state }) => state !== "cancelled").map((run) => [run.script_id, run]));
  const scripts = items.map(({ id, name }): HostScript => {
    const run = last.get(id);
    if (run === undefined) return { script_id: id, name, last_execution: null };
    const status = run.state === "pending" ? "pending" : run.exit_code === 0 ? "ran" : "error";
    return {
      script_id: id,
      name,
      last_execution: { execution_id: run.uuid, executed_at: run.ended_at ?? run.created_at, status },
    };
  });
  return { scripts, meta };
}
