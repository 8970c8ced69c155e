import { isDeepStrictEqual } from "node:util";
import type { NoTeamChange } from "../../../api/teams.ts";
import { recordEntries } from "../../activities/record.ts";
import { parts } from "../../core/concurrency/parts.ts";
import { alreadyExists } from "../../core/errors.ts";
import { nameKey } from "../../core/name-key.ts";
import { oneOf } from "../../store/query.ts";
import type { TeamRow } from "../../teams/access.ts";
import { writeAgentOptions } from "../../teams/agent-options.ts";
import { changeNoTeam, noTeamSettings } from "../../teams/no-team.ts";
import { addTeams, firstSettings, removeTeam, toldOfTeam } from "../../teams/service.ts";
import { changedSettings, checkAddresses, type GivenSettings, shownSettings } from "../../teams/settings.ts";
import type { TeamSettings } from "../../teams/tables.ts";
import { writeTeamRows } from "../../teams/write.ts";
import { type Given, locating, refusal, type Step } from "../changes.ts";
import {
  type NoTeamWanted,
  noTeamValue,
  type OptionsWanted,
  type SettingsWanted,
  settingsValue,
  type TeamWanted,
} from "../kinds/teams.ts";
import { count, creating, differs, updating, type Work } from "../work.ts";
import { configNow } from "./config.ts";

export async function writeTeams(work: Work, steps: readonly Step<TeamWanted>[]): Promise<void> {
  const fresh = creating(steps);
  if (fresh.length > 0) {
    await checkNamesFree(work, fresh);
    const settings = firstSettings(await configNow(work));
    const given = fresh.map(({ name, wanted }) => ({ name, description: wanted.description, settings }));
    for await (const some of parts(given))
      for (const row of await addTeams(work.ctx, some)) work.teams.set(row.name, row);
    count(work, fresh);
  }
  const changed = updating(steps).filter((step) => differs(work, step, step.wanted.value));
  await writeRows(
    work,
    changed.map(({ name, wanted }) => ({ before: work.teams.get(name)!, description: wanted.description })),
  );
  count(work, changed);
}

async function checkNamesFree({ ctx }: Work, steps: readonly Step<unknown>[]): Promise<void> {
  const taken = new Map<string, string>();
  for await (const some of parts(steps.map(({ name }) => nameKey(name))))
    for (const row of await ctx.store.teams.pick(["name", "name_key"], { where: oneOf("name_key", some) }))
      taken.set(row.name_key, row.name);
  for (const step of steps) {
    const key = nameKey(step.name);
    const holder = taken.get(key);
    if (holder !== undefined) throw refusal(step, alreadyExists(`a team with the name ${holder} exists`));
    taken.set(key, step.name);
  }
}

interface RowChange {
  readonly before: TeamRow;
  readonly description?: string;
  readonly settings?: TeamSettings;
}

async function writeRows({ ctx, teams }: Work, changes: readonly RowChange[]): Promise<void> {
  if (changes.length === 0) return;
  const after = changes.map(
    ({ before, description = before.description, settings = before.settings }): TeamRow => ({
      ...before,
      description,
      settings,
    }),
  );
  await writeTeamRows(
    ctx,
    after.map(({ id, description, settings }) => ({ id, description, settings })),
  );
  await recordEntries(
    ctx,
    after.flatMap((row, i) => toldOfTeam(changes[i]!.before, row)),
  );
  for (const row of after) teams.set(row.name, row);
}

export async function writeTeamOptions(work: Work, steps: readonly Step<OptionsWanted>[]): Promise<void> {
  const changed = steps.filter(
    ({ owner, wanted }) => !isDeepStrictEqual(work.teams.get(owner!)!.agent_options, wanted.options),
  );
  count(work, changed);
  await writeAgentOptions(
    work.ctx,
    changed.map(({ owner, wanted }) => ({ before: work.teams.get(owner!)!, options: wanted.options })),
  );
}

export async function writeTeamSettings(work: Work, steps: readonly Step<SettingsWanted>[]): Promise<void> {
  if (steps.length === 0) return;
  const config = await configNow(work);
  // Read the rows again: a change of the organization's integrations removes some of them from teams.
  const ids = steps.map(({ owner }) => work.teams.get(owner!)!.id);
  for (const row of await work.ctx.store.teams.getMany(ids)) work.teams.set(row.name, row);
  const changes: RowChange[] = [];
  for (const step of steps) {
    const before = work.teams.get(step.owner!)!;
    const given = differences(before, step.wanted);
    if (Object.keys(given).length === 0) continue;
    count(work, [step]);
    const settings = await locating(step, async () => {
      const changed = changedSettings(before.settings, given, config);
      await checkAddresses(work.ctx, shownSettings(before.settings), changed);
      return changed;
    });
    changes.push({ before, settings });
  }
  await writeRows(work, changes);
}

/** Only the settings that differ: unchanged settings stay valid, even if the rules for them became stricter. */
function differences({ settings }: TeamRow, { value }: SettingsWanted): GivenSettings {
  const old = shownSettings(settings);
  const now = settingsValue(old);
  const { policy_ids } = old.webhook_settings.failing_policies_webhook;
  const whole = {
    ...value,
    webhook_settings: {
      ...value.webhook_settings,
      failing_policies_webhook: { ...value.webhook_settings.failing_policies_webhook, policy_ids },
    },
  };
  return Object.fromEntries(
    Object.entries(whole).filter(
      ([key]) => !isDeepStrictEqual(value[key as keyof typeof value], now[key as keyof typeof now]),
    ),
  );
}

export async function writeNoTeamSettings(work: Work, steps: readonly Step<NoTeamWanted>[]): Promise<void> {
  for (const step of steps) {
    const before = await noTeamSettings(work.ctx.store);
    const { value } = step.wanted;
    const now = noTeamValue(before);
    const { policy_ids } = before.webhook_settings.failing_policies_webhook;
    const failing_policies_webhook = { ...value.webhook_settings.failing_policies_webhook, policy_ids };
    const after = { webhook_settings: { failing_policies_webhook }, integrations: value.integrations };
    const given: NoTeamChange = {
      ...(isDeepStrictEqual(value.webhook_settings, now.webhook_settings)
        ? {}
        : { webhook_settings: after.webhook_settings }),
      ...(isDeepStrictEqual(value.integrations, now.integrations) ? {} : { integrations: after.integrations }),
    };
    if (await locating(step, () => changeNoTeam(work.ctx, before, after, given))) count(work, [step]);
  }
}

export async function removeTeams(work: Work, given: readonly Given[]): Promise<void> {
  for (const { name } of given) work.later.push(await removeTeam(work.ctx, work.teams.get(name)!));
  count(work, given);
}
