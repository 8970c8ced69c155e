import { type ReactElement, type ReactNode, useState } from "react";
import { type AppConfig, appConfigApi } from "../../../../api/settings/app-config.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { type FormValues, useForm } from "../../../parts/form/use-form.ts";
import { ConfigControl } from "./config-control.tsx";
import { bodyOf, changesOf, fieldValue, shownValue, valueAt } from "./fields.ts";
import { SaveDialog } from "./save-dialog.tsx";
import type { ConfigGroup, SettingChange } from "./setting-types.ts";

/** What is below a form, from what has been changed in it and not saved. */
export type FormExtra = (unsaved: () => readonly SettingChange[]) => ReactNode;

interface ConfigFormProps {
  /** What is saved: "Organization". */
  readonly name: string;
  readonly groups: readonly ConfigGroup[];
  readonly config: AppConfig;
  readonly onSaved: () => void;
  readonly extra?: FormExtra;
}

/** The settings as a form. The server checks it first; then a dialog shows what changes, and saves only that. */
export function ConfigForm({ name, groups, config, onSaved, extra }: ConfigFormProps): ReactElement {
  const fields = groups.flatMap((group) => group.fields);
  // What others change meanwhile does not change the form: only what the user has changed is sent.
  const [initial] = useState<FormValues>(() =>
    Object.fromEntries(fields.map((field) => [field.path, fieldValue(field, config)])),
  );
  const [changes, setChanges] = useState<readonly SettingChange[] | null>(null);
  const form = useForm({
    initial,
    send: async (values) => {
      const changed = changesOf(fields, initial, values);
      if (changed.length > 0)
        await client.call(appConfigApi.modify, { body: bodyOf(changed) as never }, { dryRun: true });
      return changed;
    },
    onDone: (changed) => {
      if (changed.length > 0) setChanges(changed);
      else notifyDone("There are no changes to save.");
    },
  });
  return (
    <div className="config-form">
      <Form form={form} submit="Save">
        {groups.map((group) => (
          <fieldset key={group.title} className="card">
            <legend className={group.title === "" ? "hidden" : undefined}>{group.title || name}</legend>
            {group.fields.map((field) => (
              <ConfigControl key={field.path} form={form} field={field} />
            ))}
          </fieldset>
        ))}
      </Form>
      {extra?.(() => changesOf(fields, initial, form.values))}
      {changes !== null && (
        <SaveDialog name={name} changes={changes} onSaved={onSaved} onClose={() => setChanges(null)} />
      )}
    </div>
  );
}

/** The settings for users who may not change them. */
export const ConfigFacts = ({ groups, config }: Pick<ConfigFormProps, "groups" | "config">): ReactElement => (
  <>
    {groups.map(({ title, fields }) => (
      <section key={title} className="card">
        {title !== "" && <h2>{title}</h2>}
        <Facts facts={fields.map(({ path, label }) => [label, shownValue(valueAt(config, path))])} />
      </section>
    ))}
  </>
);
