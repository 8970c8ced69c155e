import type { ReactElement } from "react";
import {
  type CustomVariable,
  variableDefaultUses,
  variablesApi,
  variableUses,
} from "../../../../api/settings/variables.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckList } from "../../../parts/form/choices.tsx";
import { CheckField, Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { type Form as FormState, useForm } from "../../../parts/form/use-form.ts";
import { isPremium, useSession } from "../../../session.ts";
import { usageNames } from "./uses.ts";

interface VariableDialogProps {
  /** Null: a new one. */
  readonly variable: CustomVariable | null;
  readonly onClose: () => void;
}

const valuesOf = (variable: CustomVariable | null) => ({
  name: variable?.name ?? "",
  value: "",
  uses: [...(variable?.uses ?? variableDefaultUses)],
  is_for_all: (variable?.team_ids ?? null) === null,
  team_ids: [...(variable?.team_ids ?? [])],
});
type Values = ReturnType<typeof valuesOf>;

/** Creates a variable, or gives it another value or scope. The value can only be written. */
export default function VariableDialog({ variable, onClose }: VariableDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: valuesOf(variable),
    send: ({ name, value, uses, is_for_all, team_ids }: Values, options): Promise<unknown> => {
      const scope = { uses, ...(isPremium() ? { team_ids: is_for_all ? null : team_ids } : {}) };
      if (variable === null) return client.call(variablesApi.create, { body: { name, value, ...scope } }, options);
      const body = { ...scope, ...(value === "" ? {} : { value }) };
      return client.call(variablesApi.modify, { params: { id: variable.id }, body }, options);
    },
    onDone: (_, { name }) => {
      notifyDone(`The variable ${name} is saved.`);
      onClose();
      void outdate(variablesApi.list);
    },
  });
  return (
    <Dialog
      title={variable === null ? "Create variable" : `Edit ${variable.name}`}
      hasChanges={form.isChanged}
      onClose={onClose}
    >
      <Form form={form} submit={variable === null ? "Create variable" : "Save"} onCancel={onClose}>
        {variable === null && (
          <TextField
            form={form}
            name="name"
            label="Name"
            hint={
              <>
                Letters, digits and underscores. Texts name it <code>$SVC_SECRET_{form.values.name || "NAME"}</code>.
              </>
            }
          />
        )}
        <TextAreaField
          form={form}
          name="value"
          label={variable === null ? "Value" : "New value"}
          hint={
            variable === null
              ? "It cannot be read again."
              : "Empty: the value stays. Profiles that name the variable are sent again with a new value."
          }
        />
        <CheckList
          form={form}
          name="uses"
          legend="May be used in"
          options={variableUses.map((use) => ({ value: use, label: usageNames[use] }))}
        />
        {isPremium() && <TeamsField form={form} />}
      </Form>
    </Dialog>
  );
}

function TeamsField({ form }: { readonly form: FormState<Values> }): ReactElement {
  const { available_teams } = useSession();
  const options = [{ id: 0, name: "No team" }, ...available_teams.filter(({ id }) => id > 0)];
  return (
    <>
      <CheckField form={form} name="is_for_all" label="All teams may use it" />
      {!form.values.is_for_all && (
        <CheckList
          form={form}
          name="team_ids"
          legend="Teams that may use it"
          options={options.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
    </>
  );
}
