import type { ReactElement } from "react";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { PlanButton } from "../../../parts/plans/plan-button.tsx";
import { SqlField } from "../../../parts/sql/sql-field.tsx";
import { isPremium } from "../../../session.ts";
import { planOfPolicy } from "./policy-plan.ts";

interface PolicyDialogProps {
  /** Null: a new one. */
  readonly policy: Policy | null;
  /** The team of a new policy. Null: it is global. */
  readonly teamId: number | null;
  readonly onClose: () => void;
}

const valuesOf = (policy: Policy | null) => ({
  name: policy?.name ?? "",
  description: policy?.description ?? "",
  query: policy?.query ?? "",
  resolution: policy?.resolution ?? "",
  platform: policy?.platform ?? "",
  critical: policy?.critical ?? false,
});
type Values = ReturnType<typeof valuesOf>;

/** Creates a policy, or changes one. */
export function PolicyDialog({ policy, teamId, onClose }: PolicyDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: valuesOf(policy),
    send: ({ critical, ...values }: Values, options) =>
      save(policy, teamId, isPremium() ? { ...values, critical } : values, options),
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
    );
    onClose();
  };
  const plan = () => planOfPolicy(policy, teamId, form.values, valuesOf(policy));
  const hasOtherSql = policy !== null && form.values.query !== policy.query;
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
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="description" label="Description" />
        <SqlField form={form} name="query" hint="A host passes if the query returns at least one row." />
        {hasOtherSql && (
          <p className="message note">The results of all hosts are deleted, because they answered another query.</p>
        )}
        <TextAreaField
          form={form}
          name="resolution"
          label="Resolution"
          rows={2}
          hint="What the user of a failing host can do about it."
        />
        <TextField
          form={form}
          name="platform"
          label="Platforms"
          hint="darwin, windows, linux, chrome, separated by commas; empty: all."
        />
        {isPremium() && <CheckField form={form} name="critical" label="Critical" />}
      </Form>
    </Dialog>
  );
}

function save(
  policy: Policy | null,
  teamId: number | null,
  body: Partial<Values>,
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
