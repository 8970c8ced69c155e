import { isDeepStrictEqual } from "node:util";
import type { NoTeamChange } from "../../../../../api/settings/teams.ts";
import { readConfig } from "../../../../settings/app-config/service.ts";
import type { TeamRow } from "../../../../settings/teams/access.ts";
import { changeNoTeam, noTeamSettings } from "../../../../settings/teams/no-team.ts";
import { changedSettings, checkChange, shownSettings } from "../../../../settings/teams/settings.ts";
import type { SettingsInput } from "../../../../settings/teams/whole.ts";
import { locating, type Step } from "../../changes.ts";
import { count, type Work } from "../../work.ts";
import { type RowChange, writeRows } from "../team/write.ts";
import { type DesiredNoTeam, type DesiredSettings, noTeamValue, settingsValue } from "./value.ts";

export async function writeTeamSettings(work: Work, steps: readonly Step<DesiredSettings>[]): Promise<void> {
  if (steps.length === 0) return;
  const config = await readConfig(work.ctx.store);
  // Read the rows again: a change of the organization's integrations removes some of them from teams.
  const ids = steps.map(({ owner }) => work.teams.get(owner!)!.id);
  for (const row of await work.ctx.store.teams.getMany(ids)) work.teams.set(row.name, row);
  const changes: RowChange[] = [];
  for (const step of steps) {
    const before = work.teams.get(step.owner!)!;
    const change = differences(before, step.desired);
    if (Object.keys(change).length === 0) continue;
    count(work, [step]);
    const settings = await locating(step, async () => {
      const changed = changedSettings(before.settings, change, config);
      await checkChange(work.ctx, before, changed);
      return changed;
    });
    changes.push({ before, settings });
  }
  await writeRows(work, changes);
}

/** Only the settings that differ: unchanged settings stay valid, even if the rules for them became stricter. */
function differences({ settings }: TeamRow, { value }: DesiredSettings): SettingsInput {
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

export async function writeNoTeamSettings(work: Work, steps: readonly Step<DesiredNoTeam>[]): Promise<void> {
  for (const step of steps) {
    const before = await noTeamSettings(work.ctx.store);
    const { value } = step.desired;
    const now = noTeamValue(before);
    const { policy_ids } = before.webhook_settings.failing_policies_webhook;
    const failing_policies_webhook = { ...value.webhook_settings.failing_policies_webhook, policy_ids };
    const webhook_settings = { ...value.webhook_settings, failing_policies_webhook };
    const after = { webhook_settings, integrations: value.integrations };
    const change: NoTeamChange = {
      ...(isDeepStrictEqual(value.webhook_settings, now.webhook_settings)
        ? {}
        : { webhook_settings: after.webhook_settings }),
      ...(isDeepStrictEqual(value.integrations, now.integrations) ? {} : { integrations: after.integrations }),
    };
    if (await locating(step, () => changeNoTeam(work.ctx, before, after, change))) count(work, [step]);
  }
}
