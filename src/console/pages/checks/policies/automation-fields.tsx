import type { ReactElement } from "react";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { useRead } from "../../../api.ts";
import { Choices } from "../../../parts/form/choices.tsx";
import { CheckField, SelectField } from "../../../parts/form/form.tsx";
import type { Form } from "../../../parts/form/use-form.ts";
import { ofTeam, roleTeam } from "../../../parts/one-team.tsx";
import { isPremium, may } from "../../../session.ts";
import { mayReport, type Reports } from "./policy-reports.ts";
import type { PolicyValues } from "./policy-values.ts";

interface AutomationFieldsProps {
  readonly form: Form<PolicyValues>;
  /** Null: the policy is global, and runs nothing of a team. */
  readonly teamId: number | null;
  readonly isPatch: boolean;
  /** Undefined: they are not read yet. */
  readonly reports: Reports | undefined;
}

/** What happens with hosts that fail the policy. */
export function AutomationFields({ form, teamId, isPatch, reports }: AutomationFieldsProps): ReactElement {
  return (
    <Choices legend="Automations: when a host begins to fail">
      {reports !== undefined && <ReportField form={form} teamId={teamId} reports={reports} />}
      {teamId !== null && <TeamFields form={form} teamId={teamId} isPatch={isPatch} />}
      {teamId === null && isPremium() && (
        <p className="hint">Policies of a team can also run a script, install software and send a profile again.</p>
      )}
      <CheckField form={form} name="calendar_events_enabled" label="Create a calendar event for its user" />
      <CheckField form={form} name="conditional_access_enabled" label="Block its access" />
      <CheckField
        form={form}
        name="continuous_automations_enabled"
        label="At each failing answer, not only when it begins to fail"
      />
      {isPatch && (
        <>
          <CheckField form={form} name="patch_when_closed" label="Install the app only while it is closed" />
          <CheckField form={form} name="notify_before_patching" label="Notify its user five minutes before" />
        </>
      )}
    </Choices>
  );
}

interface ReportFieldProps extends Pick<AutomationFieldsProps, "form" | "teamId"> {
  readonly reports: Reports;
}

/** Those who may not change the settings see whether the policy is reported, and where. */
function ReportField({ form, teamId, reports: { destinations } }: ReportFieldProps): ReactElement | null {
  const where =
    destinations.length > 0
      ? `Now: ${destinations.join("; ")}.`
      : "None of them is on in the settings, so nothing is sent until one is.";
  if (mayReport(teamId))
    return <CheckField form={form} name="is_reported" label="Send the webhook, tickets and mails" hint={where} />;
  return form.values.is_reported ? <p className="hint">It is reported. {where}</p> : null;
}

const NOTHING = { value: "", label: "nothing" };

interface TeamFieldsProps extends Pick<AutomationFieldsProps, "form" | "isPatch"> {
  readonly teamId: number;
}

/** Each of them is offered to those who may see what can be chosen, or see that something is. */
function TeamFields({ form, teamId, isPatch }: TeamFieldsProps): ReactElement {
  const team = roleTeam(teamId);
  const mayScripts = may("scripts:read", team);
  const mayProfiles = may("profiles:read", team);
  const maySoftware = may("software:list", team) && isPremium() && !isPatch;
  const scripts = useRead(
    scriptsApi.list,
    { query: { ...ofTeam(teamId), order_key: "name" } },
    { enabled: mayScripts },
  );
  const software = useRead(
    softwareApi.titles,
    { query: { team_id: teamId, available_for_install: true, order_key: "name" } },
    { enabled: maySoftware },
  );
  const profiles = useRead(profilesApi.list, { query: ofTeam(teamId) }, { enabled: mayProfiles });
  const { script_id, software_title_id, resend_profile_uuid } = form.values;
  return (
    <>
      {mayScripts && (
        <SelectField
          form={form}
          name="script_id"
          label="Run script"
          options={withChosen(
            script_id,
            (scripts.data?.scripts ?? []).map(({ id, name }) => ({ value: String(id), label: name })),
          )}
        />
      )}
      {maySoftware && (
        <SelectField
          form={form}
          name="software_title_id"
          label="Install software"
          options={withChosen(
            software_title_id,
            (software.data?.software_titles ?? []).map(({ id, name, display_name }) => ({
              value: String(id),
              label: display_name || name,
            })),
          )}
        />
      )}
      {mayProfiles && (
        <SelectField
          form={form}
          name="resend_profile_uuid"
          label="Send profile again"
          options={withChosen(
            resend_profile_uuid,
            (profiles.data?.profiles ?? []).map(({ profile_uuid, name }) => ({ value: profile_uuid, label: name })),
          )}
        />
      )}
    </>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

/** What is chosen stays among the options until they are read. */
const withChosen = (value: string, options: readonly Option[]): readonly Option[] => [
  NOTHING,
  ...options,
  ...(value === "" || options.some((option) => option.value === value) ? [] : [{ value, label: "(as it is)" }]),
];
