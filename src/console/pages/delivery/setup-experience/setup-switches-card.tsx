import type { ReactElement } from "react";
import { setupExperienceApi } from "../../../../api/delivery/setup-experience.ts";
import { appConfigApi, type SetupSwitches } from "../../../../api/settings/app-config.ts";
import { teamsApi } from "../../../../api/settings/teams.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { CheckField, Form, SelectField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { may } from "../../../session.ts";

interface TeamProps {
  readonly teamId: number;
}

/** The settings of the setup: sign-in, release, accounts, and what has to succeed. */
export function SetupSwitchesCard({ teamId }: TeamProps): ReactElement {
  const isOfTeam = teamId > 0;
  const config = useRead(appConfigApi.get, {}, { enabled: !isOfTeam });
  const team = useRead(teamsApi.get, { params: { id: teamId } }, { enabled: isOfTeam });
  const mayWrite = may("setup:write", roleTeam(teamId));
  const show = (switches: SetupSwitches) =>
    mayWrite ? <SwitchesForm teamId={teamId} switches={switches} /> : <SwitchFacts switches={switches} />;
  return (
    <Card title="Settings">
      {isOfTeam ? (
        <Read from={team} what="settings">
          {(reply) => show(reply.team.mdm.macos_setup)}
        </Read>
      ) : (
        <Read from={config} what="settings">
          {(reply) => show(reply.mdm.macos_setup)}
        </Read>
      )}
    </Card>
  );
}

type SwitchName = Exclude<keyof SetupSwitches, "end_user_local_account_type">;

const switchNames: Readonly<Record<SwitchName, { readonly label: string; readonly hint?: string }>> = {
  enable_end_user_authentication: {
    label: "End users sign in before their device enrolls",
    hint: "With the identity provider for end users, which is among the settings of the organization.",
  },
  lock_end_user_info: { label: "End users cannot change the names of their account" },
  require_all_software_macos: { label: "Macs: the setup stops if software cannot be installed" },
  require_all_software_windows: { label: "Windows: the setup stops if software cannot be installed" },
  enable_release_device_manually: { label: "Devices wait in the setup assistant until a command releases them" },
  manual_agent_install: { label: "The bootstrap package installs the agent" },
  enable_managed_local_account: { label: "Macs get a managed local account" },
};

const entries = Object.entries(switchNames) as [SwitchName, { readonly label: string; readonly hint?: string }][];

const accountTypes = [
  { value: "admin", label: "Administrator" },
  { value: "standard", label: "Standard" },
  { value: "none", label: "No account" },
];

const valuesOf = (switches: SetupSwitches): SetupSwitches => ({
  enable_end_user_authentication: switches.enable_end_user_authentication,
  lock_end_user_info: switches.lock_end_user_info,
  require_all_software_macos: switches.require_all_software_macos,
  require_all_software_windows: switches.require_all_software_windows,
  enable_release_device_manually: switches.enable_release_device_manually,
  manual_agent_install: switches.manual_agent_install,
  enable_managed_local_account: switches.enable_managed_local_account,
  end_user_local_account_type: switches.end_user_local_account_type,
});

function SwitchesForm({ teamId, switches }: TeamProps & { readonly switches: SetupSwitches }): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: valuesOf(switches),
    send: (values: SetupSwitches, options) =>
      client.call(setupExperienceApi.change, { body: { ...values, team_id: teamId } }, options),
    onDone: () => {
      notifyDone("The settings of the setup are saved.");
      void outdate(appConfigApi.get, teamsApi.get);
    },
  });
  return (
    <Form form={form} submit="Save">
      {entries.map(([name, { label, hint }]) => (
        <CheckField key={name} form={form} name={name} label={label} {...(hint === undefined ? {} : { hint })} />
      ))}
      <SelectField
        form={form}
        name="end_user_local_account_type"
        label="Local account of the end user"
        options={accountTypes}
        hint="Other than an administrator only if Macs get a managed local account."
      />
    </Form>
  );
}

const SwitchFacts = ({ switches }: { readonly switches: SetupSwitches }) => (
  <Facts
    facts={[
      ...entries.map(([name, { label }]) => [label, switches[name] ? "yes" : "no"] as const),
      ["Local account of the end user", switches.end_user_local_account_type],
    ]}
  />
);
