import { isDeepStrictEqual } from "node:util";
import type { Integrations } from "../../../api/settings/app-config.ts";
import type { TeamIntegrations } from "../../../api/settings/teams.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import { changingSecrets } from "../enroll-secrets/service.ts";
import { noTeamSettings, writeNoTeam } from "./no-team.ts";
import { identityOf } from "./rules.ts";

/**
 * Removes from teams the integrations that the organization no longer has. Call it in the transaction of that change.
 */
export const dropIntegrations = (ctx: Context, left: Integrations): Promise<void> =>
  // Takes the lock of team changes: a concurrent change would restore what is removed here.
  changingSecrets(ctx, async (inside) => {
    const { store } = inside;
    for (const team of await store.teams.pick(["id", "settings"])) {
      const { settings } = team;
      if (!settings.integrations) continue;
      const calendar = { ...settings.integrations.calendar };
      if (left.calendar.length === 0) calendar.enable_calendar_events = false;
      const integrations = { ...settings.integrations, ...remaining(settings.integrations, left), calendar };
      if (isDeepStrictEqual(integrations, settings.integrations)) continue;
      await store.teams.update({ where: eq("id", team.id), set: { settings: { ...settings, integrations } } });
      await store.notify(channels.teams, String(team.id));
    }
    const none = await noTeamSettings(store);
    const integrations = { ...none.integrations, ...remaining(none.integrations, left) };
    if (!isDeepStrictEqual(integrations, none.integrations)) await writeNoTeam(inside, { ...none, integrations });
  });

type Ticketing = Pick<TeamIntegrations, "ticketing_a" | "ticketing_b">;

function remaining(used: Ticketing, integrations: Integrations): Ticketing {
  const withoutRemoved = <T extends object>(list: keyof Ticketing, entries: readonly T[]): T[] => {
    const identities = integrations[list].map((entry) => identityOf(list, entry));
    return entries.filter((entry) => identities.includes(identityOf(list, entry)));
  };
  return {
    ticketing_a: withoutRemoved("ticketing_a", used.ticketing_a),
    ticketing_b: withoutRemoved("ticketing_b", used.ticketing_b),
  };
}
