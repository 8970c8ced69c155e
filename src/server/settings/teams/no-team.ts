// The settings of hosts without a team, which the API calls team 0. They are stored as one row of the configuration
// table.
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { NoTeam, type NoTeamChange } from "../../../api/settings/teams.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalidFields } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { dropOptOuts } from "../../platform/mail/opt-outs.ts";
import { activitiesOfHostActivitiesWebhook, changesBetween, uncovered } from "../app-config/activities.ts";
import { mergedValues } from "../app-config/merge.ts";
import { readSection, writeSection } from "../app-config/rows.ts";
import { section } from "../app-config/section.ts";
import { noHostActivitiesWebhook } from "../app-config/sections/webhooks.ts";
import { sections } from "../app-config/sections.ts";
import { noIntegrations, noWebhooks } from "./defaults.ts";
import { automationProblems } from "./rules.ts";
import { changedHook, checkAddresses } from "./settings.ts";

export type NoTeamSettings = Pick<NoTeam, "webhook_settings" | "integrations">;

const NAME = NO_TEAM_NAME;

const noTeam = section<NoTeamSettings>({
  name: "no_team",
  schema: NoTeam.pick({ webhook_settings: true, integrations: true }),
  defaults: {
    webhook_settings: {
      failing_policies_webhook: noWebhooks.failing_policies_webhook,
      failing_policies_mail: noWebhooks.failing_policies_mail,
      host_activities_webhook: noWebhooks.host_activities_webhook,
    },
    integrations: { ticketing_a: noIntegrations.ticketing_a, ticketing_b: noIntegrations.ticketing_b },
  },
});

/** In the form of stored team settings, so that the same code can read both. */
export const noTeamSettings = (store: ServerTx): Promise<NoTeamSettings> => readSection(store, noTeam);

export async function writeNoTeam(ctx: Context, settings: NoTeamSettings): Promise<void> {
  await writeSection(ctx.store, noTeam, settings, ctx.clock.iso());
  await dropOptOuts(ctx.store, 0, settings.webhook_settings.failing_policies_mail.recipients);
  await ctx.store.notify(channels.config, noTeam.name);
}

const view = (settings: NoTeamSettings): NoTeam => ({ id: 0, name: NAME, ...settings });

export const getNoTeam = async (ctx: Context): Promise<{ team: NoTeam }> => ({
  team: view(await noTeamSettings(ctx.store)),
});

export const modifyNoTeam = (ctx: Context, change: NoTeamChange): Promise<{ team: NoTeam }> =>
  ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const before = await noTeamSettings(store);
      const after: NoTeamSettings = {
        webhook_settings: changedHooks(before.webhook_settings, change.webhook_settings),
        integrations: mergedValues(before.integrations, change.integrations) as NoTeamSettings["integrations"],
      };
      await changeNoTeam(inside, before, after, change);
      return { team: view(after) };
    },
    { lock: "config" },
  );

function changedHooks(
  before: NoTeamSettings["webhook_settings"],
  change: NoTeamChange["webhook_settings"],
): NoTeamSettings["webhook_settings"] {
  if (change === null) return noTeam.defaults.webhook_settings;
  const merged = mergedValues(before, change) as NoTeamSettings["webhook_settings"];
  const { host_activities_webhook: activities } = before;
  return {
    ...merged,
    host_activities_webhook: changedHook(noHostActivitiesWebhook, activities, change?.host_activities_webhook),
  };
}

/**
 * Checks, writes and announces the differences, in the caller's transaction, which must hold the lock "config".
 * Returns whether there were any.
 */
export async function changeNoTeam(
  inside: Context,
  before: NoTeamSettings,
  after: NoTeamSettings,
  change: NoTeamChange,
): Promise<boolean> {
  const [integrations, smtp_settings] = [
    await readSection(inside.store, sections.integrations),
    await readSection(inside.store, sections.smtp_settings),
  ];
  const errors = automationProblems(after, change, { integrations, smtp_settings });
  if (errors.length > 0) throw invalidFields(errors);
  await checkAddresses(inside, before, after);
  const changes = (Object.keys(after) as (keyof NoTeamSettings)[]).flatMap((at) =>
    changesBetween({ from: before[at], to: after[at], shown: [before[at], after[at]], at }),
  );
  if (changes.length === 0) return false;
  await writeNoTeam(inside, after);
  const team = { team_id: 0, team_name: NAME };
  const recorded = activitiesOfHostActivitiesWebhook(
    before.webhook_settings.host_activities_webhook,
    after.webhook_settings.host_activities_webhook,
    team,
  );
  const rest = uncovered(changes, recorded);
  await recordEntries(inside, [
    ...recorded,
    ...(rest.length > 0 ? [{ type: "edited_team" as const, details: { ...team, changes: rest } }] : []),
  ]);
  return true;
}
