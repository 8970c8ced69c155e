// Settings of a team, or of the hosts without one.

import type { ConfigurationState } from "../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { isRecord } from "../../text/record.ts";
import { overControls, withControls } from "../desired/controls.ts";
import type { Current } from "../desired/current.ts";
import type { DocumentRun, Run } from "../desired/run.ts";
import { objectIn, overlaid, thing } from "../desired/values.ts";
import { changed, controlsOf, fieldsOf } from "../export/fields.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { Value } from "../files/overlay.ts";
import { coversPath, isOfTeam, settingTypes } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { NoTeamSettings, orgSections, TeamControls, TeamSettings } from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

/** Webhooks that teams do not have by default. */
const unsetHooks = ["host_status_webhook", "host_activities_webhook"] as const;

/** A webhook that did not exist gets the defaults for fields that are not given. */
function wholeHooks({ webhook_settings: hooks }: Value, { config }: ConfigurationState["defaults"]): Value {
  const whole = unsetHooks.flatMap((name) => {
    const hook = (hooks as Value)[name];
    if (!isRecord(hook)) return [];
    const schema = orgSections.webhook_settings.shape[name]!;
    return [[name, overlaid(schema, objectIn(config.webhook_settings, name), hook)] as const];
  });
  return { ...(hooks as Value), ...Object.fromEntries(whole) };
}

function ofNoTeam(settings: Value | null | undefined, { defaults }: Current["state"]): Thing {
  const desired = overlaid(NoTeamSettings, defaults.no_team_settings, settings);
  return thing("team_settings", NO_TEAM_NAME, { ...desired, webhook_settings: wholeHooks(desired, defaults) });
}

function ofTeam({ name, values: { settings, controls } }: Run["teams"][number], current: Current): Thing {
  const { defaults } = current.state;
  const base = defaults.team_settings as Value;
  const before = current.value("team_settings", name) ?? base;
  const desired: Record<string, unknown> = { ...overlaid(TeamSettings, base, settings) };
  // Without team_settings, all settings are reset; if team_settings leaves this one out, it keeps its value.
  if (settings)
    desired.host_expiry_settings = overlaid(
      orgSections.host_expiry_settings,
      objectIn(before, "host_expiry_settings"),
      settings.host_expiry_settings,
    );
  desired.webhook_settings = wholeHooks(desired, defaults);
  desired.mdm = withControls(TeamControls, objectIn(base, "mdm"), controls, objectIn(before, "mdm"));
  return thing("team_settings", name, desired);
}

function ofDocument({ name, settings }: DocumentRun["ofTeams"][number], current: Current): Thing {
  const { defaults } = current.state;
  const before = (current.value("team_settings", name) ?? defaults.team_settings) as Value;
  const { mdm, ...rest } = settings;
  const desired = overlaid(TeamSettings, before, rest);
  const controls = isRecord(mdm) ? overControls(TeamControls, before.mdm, mdm) : desired.mdm;
  return thing("team_settings", name, { ...desired, webhook_settings: wholeHooks(desired, defaults), mdm: controls });
}

function exported({ file, owner, objects, defaults }: ExportScope): ExportedSections {
  if (file === "global") return {};
  const { mdm, host_expiry_settings, ...rest } = fieldsOf(objects.singleValue(owner, "team_settings"));
  if (file === "no_team") return { settings: rest };
  const { mdm: noMdm, ...base } = fieldsOf(defaults.team_settings);
  return {
    settings: {
      // If left out, they keep their values, so they are always written.
      ...(host_expiry_settings === undefined ? {} : { host_expiry_settings }),
      ...changed(rest, base),
    },
    controls: changed(controlsOf(fieldsOf(mdm)), controlsOf(fieldsOf(noMdm))),
  };
}

export const teamSettings: Kind = {
  noun: "team settings",
  desired: ({ current, teams, noTeam, owners }) => [
    ...teams.map((team) => ofTeam(team, current)),
    ...(owners.has(NO_TEAM_NAME) ? [ofNoTeam(noTeam?.values.settings, current.state)] : []),
  ],
  ofDocuments: ({ current, ofTeams }) => ofTeams.map((spec) => ofDocument(spec, current)),
  exported,
  usual: ({ team_settings }) => team_settings,
  typesOf: () => ["edited_team", ...["mdm", "integrations", "webhook_settings"].flatMap(settingTypes)],
  isAbout: (details, type, { owner, fields }) => {
    const paths = fields.map(({ path }) => path);
    return isOfTeam(details, owner) && coversPath(details, type, paths);
  },
};
