import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { shownSettings } from "../../../../settings/teams/settings.ts";
import type { Kind } from "../../kind.ts";
import type { Thing } from "../../values.ts";
import {
  type DesiredNoTeam,
  type DesiredSettings,
  noTeamDefaults,
  noTeamValue,
  readNoTeamSettings,
  readTeamSettings,
  settingsValue,
  teamSettingsDefaults,
} from "./value.ts";
import { writeNoTeamSettings, writeTeamSettings } from "./write.ts";

const thing = (owner: string, value: unknown): Thing => ({
  kind: "team_settings",
  owner,
  name: "team_settings",
  value,
});

export const teamSettings: Kind<null, { team: DesiredSettings } | { noTeam: DesiredNoTeam }> = {
  name: "team_settings",
  owners: ["team", "no_team"],
  per: "one",
  action: () => "teams:edit",
  load: async () => null,
  *things(_, { teams, noTeam }) {
    for (const { name, settings } of teams) yield thing(name, settingsValue(shownSettings(settings)));
    if (noTeam) yield thing(NO_TEAM_NAME, noTeamValue(noTeam));
  },
  defaults: () => ({ team_settings: teamSettingsDefaults, no_team_settings: noTeamDefaults }),
  read: (_, change) =>
    change.owner === NO_TEAM_NAME ? { noTeam: readNoTeamSettings(change) } : { team: readTeamSettings(change) },
  async write(work, { steps }) {
    await writeTeamSettings(
      work,
      steps.flatMap(({ desired, ...change }) => ("team" in desired ? [{ ...change, desired: desired.team }] : [])),
    );
    await writeNoTeamSettings(
      work,
      steps.flatMap(({ desired, ...change }) => ("noTeam" in desired ? [{ ...change, desired: desired.noTeam }] : [])),
    );
  },
};
