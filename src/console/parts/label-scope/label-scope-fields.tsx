import type { ReactElement } from "react";
import { SelectField } from "../form/form.tsx";
import type { Form } from "../form/use-form.ts";
import { LabelChecks } from "./label-checks.tsx";
import type { ScopeValues } from "./scope.ts";

const rules = [
  { value: "all", label: "All hosts of the team" },
  { value: "labels_include_any", label: "Hosts with any of these labels" },
  { value: "labels_include_all", label: "Hosts with all of these labels" },
];

/** The fields of a form that say to which hosts something goes. */
export function LabelScopeFields<V extends ScopeValues & Readonly<Record<string, unknown>>>({
  form,
}: {
  readonly form: Form<V>;
}): ReactElement {
  return (
    <>
      <SelectField form={form} name="rule" label="Hosts" options={rules} />
      {form.values.rule !== "all" && (
        <LabelChecks
          legend="Labels"
          value={form.values.included}
          onChange={(names) => form.set("included", names as V["included"])}
        />
      )}
      <LabelChecks
        legend="Except hosts with any of these labels"
        value={form.values.excluded}
        onChange={(names) => form.set("excluded", names as V["excluded"])}
      />
    </>
  );
}
