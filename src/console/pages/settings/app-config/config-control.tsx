import type { ReactElement } from "react";
import { CheckField, SelectField, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import type { Form, FormValues } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";
import type { ConfigField } from "./setting-types.ts";

interface ConfigControlProps {
  readonly form: Form<FormValues>;
  readonly field: ConfigField;
}

const JSON_ROWS = 24;
const TEXT_ROWS = 5;

/** The control of a setting. */
export function ConfigControl({ form, field }: ConfigControlProps): ReactElement {
  const { path, label, hint } = field;
  const props = { form, name: path, label, ...(hint === undefined ? {} : { hint }) };
  switch (field.kind) {
    case "check":
      return <CheckField {...props} />;
    case "select":
      return <SelectField {...props} options={field.options} />;
    case "team":
      return <SelectField {...props} options={teamOptions()} />;
    case "secret":
      return <TextField {...props} type="password" autoComplete="new-password" />;
    case "json":
      return <TextAreaField {...props} rows={JSON_ROWS} />;
    case "document":
    case "lines":
      return <TextAreaField {...props} rows={TEXT_ROWS} />;
    default:
      return <TextField {...props} type={field.kind} />;
  }
}

/** The teams by name, as settings contain them. */
const teamOptions = () => [
  { value: "", label: "No team" },
  ...session.data.available_teams.filter(({ id }) => id > 0).map(({ name }) => ({ value: name, label: name })),
];
