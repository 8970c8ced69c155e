import type { ReactElement } from "react";
import { type Query, queriesApi } from "../../../../api/checks/queries.ts";
import type { PlanChange } from "../../../../api/edge/plans.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, SelectField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { labelScopeOf } from "../../../parts/label-scope/scope.ts";
import { CANNOT_RENAME, changedFields, ownerOf, PlanButton } from "../../../parts/plans/plan-button.tsx";
import { SqlField } from "../../../parts/sql/sql-field.tsx";
import { isPremium } from "../../../session.ts";

interface QueryDialogProps {
  /** Null: a new one. */
  readonly query: Query | null;
  /** The team of a new query. Null: it is global. */
  readonly teamId: number | null;
  /** What a new query begins with, if it is made from another one. */
  readonly template?: Pick<Query, "name" | "query"> | undefined;
  readonly onClose: () => void;
}

type Template = Partial<Query>;

const valuesOf = (query: Template) => ({
  name: query.name ?? "",
  description: query.description ?? "",
  query: query.query ?? "",
  interval: query.interval ?? 0,
  platform: query.platform ?? "",
  min_qengine_version: query.min_qengine_version ?? "",
  logging: query.logging ?? "snapshot",
  automations_enabled: query.automations_enabled ?? false,
  observer_can_run: query.observer_can_run ?? false,
  discard_data: query.discard_data ?? false,
  ...labelScopeOf(query),
});
type Values = ReturnType<typeof valuesOf>;

function bodyOf({ labels_include_any, labels_include_all, labels_exclude_any: _, ...values }: Values) {
  if (!isPremium()) return values;
  return {
    ...values,
    labels_include_any: [...(labels_include_any ?? [])],
    labels_include_all: [...(labels_include_all ?? [])],
  };
}

/** Saves a query, or changes one. */
export default function QueryDialog({ query, teamId, template, onClose }: QueryDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: valuesOf(query ?? template ?? {}),
    send: (values: Values, options) => {
      const body = bodyOf(values);
      if (query !== null) {
        const changes = changedFields(body, bodyOf(valuesOf(query)));
        return client.call(queriesApi.modify, { params: { id: query.id }, body: changes }, options);
      }
      return client.call(
        queriesApi.create,
        { body: { ...body, ...(teamId === null ? {} : { team_id: teamId }) } },
        options,
      );
    },
    onDone: (_, { name }) => {
      notifyDone(`The query ${name} is saved.`);
      changed();
    },
  });
  const changed = () => {
    void outdate(queriesApi.list, queriesApi.get, queriesApi.report);
    onClose();
  };
  const plan = (): PlanChange | string => {
    const { name, ...fields } = bodyOf(form.values);
    if (query !== null && name !== query.name) return CANNOT_RENAME;
    const value = changedFields(fields, query && bodyOf(valuesOf(query)));
    return { kind: "query", owner: ownerOf(query === null ? teamId : query.team_id), name, action: "set", value };
  };
  const hasOtherSql = query !== null && form.values.query !== query.query;
  return (
    <Dialog
      title={query === null ? "Create query" : `Edit ${query.name}`}
      isWide
      hasChanges={form.isChanged}
      onClose={onClose}
    >
      <Form
        form={form}
        submit={query === null ? "Create query" : "Save"}
        beside={<PlanButton name={form.values.name} change={plan} onApplied={changed} onKept={onClose} />}
        onCancel={onClose}
      >
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="description" label="Description" />
        <SqlField form={form} name="query" placeholder="SELECT name, version FROM os_version" />
        {hasOtherSql && <p className="message note">Its report is deleted, because it answers another query.</p>}
        <div className="grid">
          <TextField form={form} name="interval" label="Runs every (seconds)" type="number" hint="0: not scheduled" />
          <TextField form={form} name="platform" label="Platforms" hint="darwin, linux, windows, chrome; empty: all" />
          <TextField form={form} name="min_qengine_version" label="Oldest query engine" hint="empty: any" />
          <SelectField
            form={form}
            name="logging"
            label="Logging"
            options={[
              { value: "snapshot", label: "All rows each time" },
              { value: "differential", label: "Added and removed rows" },
              { value: "differential_ignore_removals", label: "Added rows only" },
            ]}
          />
        </div>
        {isPremium() && <LabelScopeField form={form} mode="including" />}
        <CheckField form={form} name="automations_enabled" label="Write results to the log destination" />
        <CheckField form={form} name="observer_can_run" label="Observers may run it as a live query" />
        <CheckField form={form} name="discard_data" label="Store no report" />
      </Form>
    </Dialog>
  );
}
