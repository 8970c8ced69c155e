import type { ReactElement } from "react";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { teamsApi } from "../../../../api/settings/teams.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { changedFields, PlanButton } from "../../../parts/plans/plan-button.tsx";
import { SqlField } from "../../../parts/sql/sql-field.tsx";
import { isPremium } from "../../../session.ts";
import { AutomationFields } from "./automation-fields.tsx";
import { planOfPolicy } from "./policy-plan.ts";
import { setReported, useReports } from "./policy-reports.ts";
import { bodyOf, hasNewAutomation, isPatch, type PolicyValues, valuesOf } from "./policy-values.ts";

interface PolicyDialogProps {
  /** Null: a new one. */
  readonly policy: Policy | null;
  /** The team of the policy. Null: it is global. */
  readonly teamId: number | null;
  /** What a new policy installs on hosts that begin to fail it, with a query that finds it. */
  readonly install?: {
    readonly titleId: number;
    readonly name: string;
    readonly query: string;
    readonly platform: string;
  };
  readonly onClose: () => void;
}

const PLACEHOLDER = "SELECT 1 FROM disk_encryption WHERE encrypted = 1";

const presets = (install: PolicyDialogProps["install"]): Partial<PolicyValues> =>
  install === undefined
    ? {}
    : {
        name: `Has ${install.name}`,
        query: install.query,
        platform: install.platform,
        software_title_id: String(install.titleId),
      };

/** Creates a policy, or changes one. */
export default function PolicyDialog({ policy, teamId, install, onClose }: PolicyDialogProps): ReactElement {
  const outdate = useOutdate();
  const reports = useReports(teamId);
  const isReported = policy !== null && reports?.policyIds.includes(policy.id) === true;
  const initial = { ...valuesOf(policy, isReported), ...presets(install) };
  const form = useForm({
    initial,
    async send(values: PolicyValues, options) {
      const body = bodyOf(values, policy, teamId);
      const changes = changedFields(body, policy && bodyOf(initial, policy, teamId));
      const isReportChanged = values.is_reported !== isReported && !options.dryRun;
      // What the settings refuse is said while nothing of an existing policy is saved yet.
      if (policy !== null && isReportChanged) await setReported(teamId, policy.id, values.is_reported);
      if (policy !== null && Object.keys(changes).length === 0) return { policy };
      const reply = await save(policy, teamId, changes, options);
      if (policy === null && isReportChanged)
        await setReported(teamId, reply.policy.id, true).catch((error: unknown) =>
          notifyFailed(error, `${values.name} is created, but not reported`),
        );
      return reply;
    },
    onDone: (_, { name }) => {
      notifyDone(policy === null ? `The policy ${name} is created.` : `The policy ${name} is saved.`);
      changed();
    },
  });
  const changed = () => {
    void outdate(
      policiesApi.listGlobal,
      policiesApi.listTeam,
      policiesApi.getGlobal,
      policiesApi.getTeam,
      policiesApi.countGlobal,
      policiesApi.countTeam,
      appConfigApi.get,
      teamsApi.get,
      teamsApi.noTeam,
    );
    onClose();
  };
  const planned = (values: PolicyValues) => ({
    ...bodyOf(values, policy, teamId),
    webhooks_and_tickets_enabled: values.is_reported,
  });
  const plan = () => planOfPolicy(policy, teamId, planned(form.values), planned(initial));
  return (
    <Dialog
      title={policy === null ? "Create policy" : `Edit ${policy.name}`}
      isWide
      hasChanges={form.isChanged}
      onClose={onClose}
    >
      <Form
        form={form}
        submit={policy === null ? "Create policy" : "Save"}
        beside={<PlanButton name={form.values.name} change={plan} onApplied={changed} onKept={onClose} />}
        onCancel={onClose}
      >
        {install !== undefined && (
          <p className="message note">{install.name} is installed on hosts that begin to fail the policy.</p>
        )}
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="description" label="Description" />
        {isPatch(policy) ? (
          <p className="hint">Its query and platform follow from the app {policy?.svc_maintained_app_slug}.</p>
        ) : (
          <SqlField
            form={form}
            name="query"
            placeholder={PLACEHOLDER}
            hint="A host passes if the query returns at least one row."
          />
        )}
        <TextAreaField
          form={form}
          name="resolution"
          label="Resolution"
          rows={2}
          hint="What the user of a failing host can do about it."
        />
        {!isPatch(policy) && (
          <TextField
            form={form}
            name="platform"
            label="Platforms"
            hint="darwin, windows, linux, chrome, separated by commas; empty: all."
          />
        )}
        {isPremium() && <LabelScopeField form={form} />}
        {isPremium() && <CheckField form={form} name="critical" label="Critical" />}
        <AutomationFields form={form} teamId={teamId} isPatch={isPatch(policy)} reports={reports} />
        {policy !== null && <ResultsNote values={form.values} before={initial} />}
      </Form>
    </Dialog>
  );
}

interface ResultsNoteProps {
  readonly values: PolicyValues;
  readonly before: PolicyValues;
}

/** Says that hosts answer again, if they do. */
function ResultsNote({ values, before }: ResultsNoteProps): ReactElement | null {
  const isOther = values.query !== before.query || values.platform.trim() !== before.platform;
  const text = isOther
    ? "The results of all hosts are deleted, because they answered another query."
    : hasNewAutomation(values, before)
      ? "The results of all hosts are deleted, so that hosts that fail already get the new automation too."
      : null;
  return text === null ? null : <p className="message note">{text}</p>;
}

function save(
  policy: Policy | null,
  teamId: number | null,
  body: Partial<ReturnType<typeof bodyOf>>,
  options: { readonly dryRun?: boolean },
): Promise<{ policy: Policy }> {
  if (policy === null)
    return teamId === null
      ? client.call(policiesApi.createGlobal, { body }, options)
      : client.call(policiesApi.createTeam, { params: { id: teamId }, body }, options);
  const { id, team_id } = policy;
  return team_id === null
    ? client.call(policiesApi.modifyGlobal, { params: { id }, body }, options)
    : client.call(policiesApi.modifyTeam, { params: { team_id, policy_id: id }, body }, options);
}
