// Teams as configuration: written by name in one transaction. Settings that a spec leaves out do not change.

import { isDeepStrictEqual } from "node:util";
import type { ConfigSections } from "../../../api/settings/app-config.ts";
import { TeamSpec, teamsApi } from "../../../api/settings/teams.ts";
import { recordActivities, recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, invalid, locatedAt } from "../../platform/core/errors.ts";
import { withoutNulls } from "../../platform/core/http/nulls.ts";
import { bodyErrors } from "../../platform/core/http/route.ts";
import { checkKeys } from "../../platform/core/http/unknown-keys.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { authorize, may } from "../../platform/core/security/access.ts";
import { oneOf } from "../../platform/store/query.ts";
import { parseAgentOptions } from "../app-config/agent-options.ts";
import { readConfig } from "../app-config/service.ts";
import { changingSecrets, checkSecrets, replaceSecrets } from "../enroll-secrets/service.ts";
import { authorizeTeam, type TeamRow } from "./access.ts";
import { writeAgentOptions } from "./agent-options.ts";
import { checkName } from "./names.ts";
import { firstSettings, insertTeams } from "./service.ts";
import { changedSettings, checkChange, shownSettings } from "./settings.ts";
import type { WholeSettings } from "./whole.ts";
import { keepSubscriptions } from "./write.ts";

interface Options {
  readonly force: boolean;
}

interface DesiredTeam {
  readonly at: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly spec: TeamSpec;
}

export async function applyTeamSpecs(
  ctx: Context,
  specs: readonly Record<string, unknown>[],
  options: Options,
): Promise<{ team_ids_by_name: Record<string, number> }> {
  const desired = specs.map((input, i) => read(input, `specs.${i}`, options));
  const names = new Set<string>();
  for (const { at, name } of desired) {
    if (names.has(nameKey(name))) throw invalid(`${at}.name`, `the team ${JSON.stringify(name)} is given twice`);
    names.add(nameKey(name));
  }
  const ids = new Map<string, number>();
  await changingSecrets(ctx, (holding) =>
    // Lock order: the lock of agent options is taken after that of settings and secrets, as everywhere.
    holding.store.tx(
      async (store) => {
        ids.clear();
        const inside = within(ctx, store);
        const rows = await store.teams.list({ where: oneOf("name_key", [...names]) });
        const existing = new Map(rows.map((row) => [row.name_key, row]));
        // In a dry run new teams get no id, so none is returned.
        for (const team of await keepAll(inside, desired, existing, options))
          if (inside.dryRun === null || existing.has(team.name_key)) ids.set(team.name, team.id);
      },
      { lock: "teams" },
    ),
  );
  return { team_ids_by_name: Object.fromEntries(ids) };
}

function read(raw: Record<string, unknown>, at: string, { force }: Options): DesiredTeam {
  const input = withoutNulls(TeamSpec, raw) as Record<string, unknown>;
  if (!force) checkKeys("key", teamsApi.applySpecs, { schema: TeamSpec, value: input, at: at.split(".") });
  const result = TeamSpec.safeParse(input, { reportInput: true });
  if (!result.success)
    throw new ApiError(
      400,
      "Bad request",
      bodyErrors(result.error).map(({ name, reason }) => ({ name: `${at}.${name}`, reason })),
    );
  const spec = result.data;
  if (spec.scripts?.length)
    throw invalid(
      `${at}.scripts`,
      "must be empty: paths name files of the client. POST /scripts/batch takes their contents",
    );
  if (spec.software && Object.keys(spec.software).length > 0)
    throw invalid(
      `${at}.software`,
      "must be empty: POST /software/batch takes packages, and POST /software/app_store_apps/batch apps of the store",
    );
  if (spec.secrets) locating(at, () => checkSecrets(spec.secrets!));
  return { at, name: locating(at, () => checkName(spec.name)), input, spec };
}

async function keepAll(
  inside: Context,
  desired: readonly DesiredTeam[],
  existing: ReadonlyMap<string, TeamRow>,
  { force }: Options,
): Promise<TeamRow[]> {
  const config = await readConfig(inside.store);
  for (const { name } of desired) {
    const before = existing.get(nameKey(name));
    // For team users, other teams are answered like missing ones.
    if (before && may(inside.user, "teams:list", before.id)) authorizeTeam(inside, "teams:edit", before.id);
    else authorize(inside, "teams:create", null);
  }
  const settings = desired.map((team) => settingsOf(team, existing.get(nameKey(team.name)), config));
  for (const [i, { at, name }] of desired.entries()) {
    const before = existing.get(nameKey(name));
    await checkChange(inside, before ?? null, settings[i]!, at);
  }
  const fresh = desired.flatMap(({ name }, i) =>
    existing.has(nameKey(name)) ? [] : [{ name, description: "", settings: settings[i]! }],
  );
  const created = new Map((await insertTeams(inside, fresh)).map((row) => [row.name_key, row]));
  const changed = desired.flatMap(({ name }, i) => {
    const before = existing.get(nameKey(name));
    const same = !before || isDeepStrictEqual(shownSettings(before.settings), settings[i]);
    return same ? [] : [{ ...before, settings: settings[i]! }];
  });
  const updated_at = inside.clock.iso();
  await inside.store.teams.updateEach(changed.map(({ id, settings }) => ({ id, settings, updated_at })));
  await keepSubscriptions(inside.store, changed);
  if (changed.length > 0) await inside.store.notify(channels.teams, "*");
  const teams = [...created.values(), ...changed].map(({ id, name }) => ({ id, name }));
  if (teams.length > 0) await recordActivity(inside, "applied_spec_team", { teams });

  const rows = desired.map(({ name }) => existing.get(nameKey(name)) ?? created.get(nameKey(name))!);
  await writeAgentOptions(
    inside,
    desired.flatMap(({ at, spec, input }, i) => {
      if (!Object.hasOwn(input, "agent_options")) return [];
      const options = spec.agent_options;
      const checks = { force, at: `${at}.agent_options` };
      return [{ before: rows[i]!, options: options === null ? null : parseAgentOptions(options, checks) }];
    }),
  );
  for (const [i, { spec }] of desired.entries()) {
    if (!spec.secrets) continue;
    const { id, name } = rows[i]!;
    authorizeTeam(inside, "enroll_secrets:write", id);
    if (await replaceSecrets(inside, id, spec.secrets))
      await recordActivities(inside, "edited_enroll_secrets", [{ team_id: id, team_name: name }]);
  }
  return rows;
}

function settingsOf({ at, spec }: DesiredTeam, before: TeamRow | undefined, config: ConfigSections): WholeSettings {
  return locating(at, () => changedSettings(before?.settings ?? firstSettings(config), spec, config));
}

function locating<R>(at: string, work: () => R): R {
  try {
    return work();
  } catch (error) {
    throw locatedAt(error, at);
  }
}
