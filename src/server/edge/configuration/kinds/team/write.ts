import { removeTeam } from "../../../../inventory/team-removal/service.ts";
import { recordEntries } from "../../../../platform/activities/record.ts";
import { parts } from "../../../../platform/core/concurrency/parts.ts";
import { alreadyExists } from "../../../../platform/core/errors.ts";
import { nameKey } from "../../../../platform/core/name-key.ts";
import { oneOf } from "../../../../platform/store/query.ts";
import { readConfig } from "../../../../settings/app-config/service.ts";
import type { TeamRow } from "../../../../settings/teams/access.ts";
import { activitiesOfTeam, addTeams, firstSettings } from "../../../../settings/teams/service.ts";
import type { TeamSettings } from "../../../../settings/teams/tables.ts";
import { writeTeamRows } from "../../../../settings/teams/write.ts";
import { type RequestedChange, refusal, type Step } from "../../changes.ts";
import { count, creating, differs, updating, type Work } from "../../work.ts";
import type { DesiredTeam } from "./value.ts";

export async function writeTeams(work: Work, steps: readonly Step<DesiredTeam>[]): Promise<void> {
  const fresh = creating(steps);
  if (fresh.length > 0) {
    await checkNamesFree(work, fresh);
    const settings = firstSettings(await readConfig(work.ctx.store));
    const teams = fresh.map(({ name, desired }) => ({ name, description: desired.description, settings }));
    for await (const batch of parts(teams))
      for (const row of await addTeams(work.ctx, batch)) work.teams.set(row.name, row);
    count(work, fresh);
  }
  const changed = updating(steps).filter((step) => differs(work, step, step.desired.value));
  await writeRows(
    work,
    changed.map(({ name, desired }) => ({ before: work.teams.get(name)!, description: desired.description })),
  );
  count(work, changed);
}

async function checkNamesFree({ ctx }: Work, steps: readonly Step<unknown>[]): Promise<void> {
  const namesByKey = new Map<string, string>();
  for await (const keys of parts(steps.map(({ name }) => nameKey(name))))
    for (const row of await ctx.store.teams.pick(["name", "name_key"], { where: oneOf("name_key", keys) }))
      namesByKey.set(row.name_key, row.name);
  for (const step of steps) {
    const key = nameKey(step.name);
    const holder = namesByKey.get(key);
    if (holder !== undefined) throw refusal(step, alreadyExists(`a team with the name ${holder} exists`));
    namesByKey.set(key, step.name);
  }
}

export interface RowChange {
  readonly before: TeamRow;
  readonly description?: string;
  readonly settings?: TeamSettings;
}

export async function writeRows({ ctx, teams }: Work, changes: readonly RowChange[]): Promise<void> {
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
    after.flatMap((row, i) => activitiesOfTeam(changes[i]!.before, row)),
  );
  for (const row of after) teams.set(row.name, row);
}

export async function removeTeams(work: Work, changes: readonly RequestedChange[]): Promise<void> {
  for (const { name } of changes) work.later.push(await removeTeam(work.ctx, work.teams.get(name)!));
  count(work, changes);
}
