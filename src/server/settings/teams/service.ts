import type { z } from "zod";
import type { ConfigSections } from "../../../api/settings/app-config.ts";
import type { Team, teamsApi } from "../../../api/settings/teams.ts";
import { type Entry, recordActivities, recordActivity, recordEntries } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, notFound } from "../../platform/core/errors.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, eq, search } from "../../platform/store/query.ts";
import {
  activitiesOfAccessAutomations,
  activitiesOfHistory,
  activitiesOfHostActivitiesWebhook,
  activitiesOfMdm,
  changesBetween,
  uncovered,
} from "../app-config/activities.ts";
import { noHostExpiry } from "../app-config/sections/rules.ts";
import { readConfig } from "../app-config/service.ts";
import { changingSecrets, replaceSecrets } from "../enroll-secrets/service.ts";
import { authorizeTeam, getTeamRow, type TeamRow } from "./access.ts";
import { checkName } from "./names.ts";
import { changedSettings, checkChange, shownSettings } from "./settings.ts";
import type { TeamSettings } from "./tables.ts";
import { viewTeam, viewTeams } from "./view.ts";
import type { SettingsInput, WholeSettings } from "./whole.ts";
import { keepSubscriptions } from "./write.ts";

type CreateInput = z.output<(typeof teamsApi)["create"]["body"]>;
type ModifyInput = z.output<(typeof teamsApi)["modify"]["body"]>;

export async function listTeams(ctx: Context, filter: PageQuery & { query?: string | undefined }) {
  const where = and(visible(ctx, "teams:list", "id"), search(["name"], (filter.query ?? "").normalize("NFC")));
  const { rows, meta } = await page(ctx.store.teams, filter, where);
  return { teams: await viewTeams(ctx, rows), meta };
}

export const getTeam = async (ctx: Context, id: number): Promise<{ team: Team }> => ({
  team: await viewTeam(ctx, await getTeamRow(ctx, "teams:list", id)),
});

export async function createTeam(ctx: Context, input: CreateInput): Promise<{ team: Team }> {
  const name = checkName(input.name);
  return changingSecrets(ctx, async (inside) => {
    const config = await readConfig(inside.store);
    const settings = changedSettings(firstSettings(config), input, config);
    await checkChange(inside, null, settings);
    await checkNameFree(inside, name);
    const [team] = (await addTeams(inside, [{ name, description: input.description ?? "", settings }])) as [TeamRow];
    if (input.secrets) {
      authorizeTeam(ctx, "enroll_secrets:write", team.id);
      await replaceSecrets(inside, team.id, input.secrets);
    }
    return { team: await viewTeam(inside, team) };
  });
}

/** The initial settings of a new team. */
export const firstSettings = ({ features }: Pick<ConfigSections, "features">): TeamSettings => ({
  host_expiry_settings: noHostExpiry,
  features: {
    enable_host_users: features.enable_host_users,
    enable_software_inventory: features.enable_software_inventory,
    additional_queries: features.additional_queries,
  },
});

/** Inserts teams in the caller's transaction and records an activity for each. The names must be checked and free. */
export async function addTeams(inside: Context, teams: readonly NewTeam[]): Promise<TeamRow[]> {
  const rows = await insertTeams(inside, teams);
  await recordActivities(
    inside,
    "created_team",
    rows.map(({ id, name }) => ({ team_id: id, team_name: name })),
  );
  return rows;
}

type NewTeam = Pick<TeamRow, "name" | "description" | "settings">;

export async function insertTeams({ store, clock }: Context, teams: readonly NewTeam[]): Promise<TeamRow[]> {
  if (teams.length === 0) return [];
  const now = clock.iso();
  const rows = await store.teams.insertMany(
    teams.map((team) => ({ created_at: now, updated_at: now, name_key: nameKey(team.name), ...team })),
  );
  await store.notify(channels.teams, rows.length === 1 ? String(rows[0]!.id) : "*");
  return rows;
}

export async function modifyTeam(ctx: Context, id: number, change: ModifyInput): Promise<{ team: Team }> {
  const name = change.name === undefined ? undefined : checkName(change.name);
  return changingSecrets(ctx, async (inside) => {
    const before = await getTeamRow(inside, "teams:edit", id);
    if (name !== undefined) await checkNameFree(inside, name, id);
    const team = await writeTeam(inside, before, {
      description: change.description,
      ...(name === undefined ? {} : { name, name_key: nameKey(name) }),
      settings: await settingsAfter(inside, before, change),
    });
    if (change.secrets) {
      authorizeTeam(ctx, "enroll_secrets:write", id);
      if (await replaceSecrets(inside, id, change.secrets))
        await recordActivity(inside, "edited_enroll_secrets", { team_id: id, team_name: team.name });
    }
    return { team: await viewTeam(inside, team) };
  });
}

/** 422 for violated rules. */
async function settingsAfter(
  inside: Context,
  team: TeamRow,
  change: SettingsInput,
  { isGated = true } = {},
): Promise<WholeSettings> {
  const after = changedSettings(team.settings, change, await readConfig(inside.store), { isGated });
  await checkChange(inside, team, after);
  return after;
}

type TeamChange = Partial<Pick<TeamRow, "name" | "name_key" | "settings">> & { description?: string | undefined };

async function writeTeam(inside: Context, before: TeamRow, set: TeamChange): Promise<TeamRow> {
  const { store, clock } = inside;
  const { id } = before;
  await store.teams.update({ where: eq("id", id), set: { updated_at: clock.iso(), ...set } });
  await keepSubscriptions(store, [{ id, ...set }]);
  const team = (await store.teams.get(id))!;
  await recordEntries(inside, activitiesOfTeam(before, team));
  await store.notify(channels.teams, String(id));
  return team;
}

/**
 * Changes settings of device management through endpoints of their own. Some take them while device management is off, too
 * (`isGated`: false). The caller has authorized the change.
 */
export async function setTeamSettings(
  ctx: Context,
  id: number,
  change: SettingsInput,
  { isGated = true } = {},
): Promise<void> {
  await changingSecrets(ctx, async (inside) => {
    const before = await inside.store.teams.get(id);
    if (!before) throw notFound("team", id);
    await writeTeam(inside, before, { settings: await settingsAfter(inside, before, change, { isGated }) });
  });
}

async function checkNameFree({ store }: Context, name: string, but = 0): Promise<void> {
  const holder = await store.teams.first({ where: eq("name_key", nameKey(name)) });
  if (holder && holder.id !== but) throw alreadyExists(`a team with the name ${name} exists`);
}

/** Each change is recorded once: in an activity of its own if there is one, otherwise together with the others. */
export function activitiesOfTeam(before: TeamRow, after: TeamRow): Entry[] {
  const team = { team_id: after.id, team_name: after.name };
  const [was, is] = [before, after].map(({ name, description, settings }) => ({
    name,
    description,
    ...shownSettings(settings),
  })) as [ShownTeam, ShownTeam];
  const recorded = [
    ...activitiesOfMdm(was.mdm, is.mdm, team),
    ...activitiesOfAccessAutomations(
      was.integrations.conditional_access_enabled,
      is.integrations.conditional_access_enabled,
      team,
    ),
    ...activitiesOfHistory(was.features.historical_data, is.features.historical_data, team),
    ...activitiesOfHostActivitiesWebhook(
      was.webhook_settings.host_activities_webhook,
      is.webhook_settings.host_activities_webhook,
      team,
    ),
  ];
  const changes = (Object.keys(is) as (keyof ShownTeam)[]).flatMap((at) =>
    changesBetween({ from: was[at], to: is[at], shown: [was[at], is[at]], at }),
  );
  const rest = uncovered(changes, recorded);
  return [
    ...recorded,
    ...(rest.length > 0 ? [{ type: "edited_team" as const, details: { ...team, changes: rest } }] : []),
  ];
}

type ShownTeam = WholeSettings & Pick<TeamRow, "name" | "description">;
