import type { ReactElement } from "react";
import { shellWord } from "../../../../text/shell.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { OneTeam, ofTeam } from "../../../parts/one-team.tsx";
import { isPremium } from "../../../session.ts";
import { configCommand } from "../app-config/change-config.ts";
import { bodyOf } from "../app-config/fields.ts";
import type { ConfigField, ConfigGroup, SettingChange } from "../app-config/setting-types.ts";
import { SettingsForm } from "../app-config/settings-form.tsx";
import { changeTeamMdm, mayChangeTeamMdm, teamMdmEndpoints, useTeamMdm } from "./team-mdm.ts";

const appleFields = (name: "macos_updates" | "ios_updates" | "ipados_updates"): readonly ConfigField[] => [
  {
    path: `mdm.${name}.minimum_version`,
    label: "Minimum version",
    kind: "text",
    hint: "a version such as 15.2, or latest: the newest for each device; empty: nothing is enforced",
  },
  {
    path: `mdm.${name}.deadline`,
    label: "Deadline",
    kind: "text",
    hint: "YYYY-MM-DD; the device installs the version by noon of that day, in its time zone",
  },
  {
    path: `mdm.${name}.deadline_days`,
    label: "Days until the deadline",
    kind: "number",
    hint: "with latest, in place of a deadline: days after a version has come out",
  },
];

const groups: readonly ConfigGroup[] = [
  {
    title: "macOS",
    fields: [
      ...appleFields("macos_updates"),
      {
        path: "mdm.macos_updates.update_new_hosts",
        label: "Macs that enroll automatically are updated first",
        kind: "check",
      },
    ],
  },
  { title: "iOS", fields: appleFields("ios_updates") },
  { title: "iPadOS", fields: appleFields("ipados_updates") },
  {
    title: "Windows",
    fields: [
      {
        path: "mdm.windows_updates.deadline_days",
        label: "Deadline in days",
        kind: "number",
        hint: "0 to 30, after an update has come out; empty: nothing is enforced",
      },
      {
        path: "mdm.windows_updates.grace_period_days",
        label: "Grace period in days",
        kind: "number",
        hint: "0 to 7, from the deadline until the host restarts",
      },
    ],
  },
];

/** By when the hosts of a team have to be updated. */
export default function OsUpdatesTab(): ReactElement {
  if (!isPremium()) return <p>Premium: deadlines by which hosts install updates of their operating system.</p>;
  return (
    <OneTeam what="OS updates" action="config:read">
      {(teamId) => <OsUpdates key={teamId} teamId={teamId} />}
    </OneTeam>
  );
}

function OsUpdates({ teamId }: { readonly teamId: number }): ReactElement {
  const reply = useTeamMdm(teamId);
  return (
    <>
      <p>
        Hosts are reminded before the deadline, and install the update at the deadline.{" "}
        <PageLink href="/software" query={{ tab: "os", ...ofTeam(teamId) }}>
          Versions that hosts have
        </PageLink>
      </p>
      <Read from={reply} what="settings">
        {(settings) => (
          <SettingsForm
            name="OS updates"
            groups={groups}
            settings={settings}
            mayChange={mayChangeTeamMdm(teamId)}
            send={(changes, options) => changeTeamMdm(teamId, bodyOf(changes), options)}
            commandOf={(changes) => commandOf(teamId, changes)}
            endpoints={teamMdmEndpoints}
          />
        )}
      </Read>
    </>
  );
}

const commandOf = (teamId: number, changes: readonly SettingChange[]): string =>
  teamId === 0
    ? configCommand(changes)
    : `echo ${shellWord(JSON.stringify(bodyOf(changes)))} | svc teams update ${teamId} --input -`;
