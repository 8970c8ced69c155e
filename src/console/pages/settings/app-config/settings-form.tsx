import { type ReactElement, type ReactNode, useState } from "react";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { errorTexts } from "../../../parts/error-texts.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { type FormValues, useForm } from "../../../parts/form/use-form.ts";
import { PlanButton, type PlanRequest } from "../../../parts/plans/plan-button.tsx";
import { ConfigControl } from "./config-control.tsx";
import { changesOf, fieldValue, shownValue, valueAt } from "./fields.ts";
import { SaveDialog } from "./save-dialog.tsx";
import type { ConfigGroup, SettingChange } from "./setting-types.ts";

/** What is below a form, from what has been changed in it and not saved. */
export type FormExtra = (unsaved: () => readonly SettingChange[]) => ReactNode;

interface SettingsFormProps {
  /** What is saved: "OS updates". */
  readonly name: string;
  readonly groups: readonly ConfigGroup[];
  readonly settings: object;
  readonly mayChange: boolean;
  readonly send: (changes: readonly SettingChange[], options: { readonly dryRun?: boolean }) => Promise<unknown>;
  /** The same in a terminal. */
  readonly commandOf: (changes: readonly SettingChange[]) => string;
  /** The changes as a plan has them, or why they cannot be planned. Absent: these settings are not planned. */
  readonly planOf?: (changes: readonly SettingChange[]) => PlanRequest | string;
  /** What the change does, as far as it needs to be said. */
  readonly effectOf?: (changes: readonly SettingChange[]) => string | null;
  /** Where the settings are read from. */
  readonly endpoints: readonly AnyEndpoint[];
  readonly extra?: FormExtra;
}

/** Settings as a form, which starts again when they are saved. Users who may not change them see their values. */
export function SettingsForm(props: SettingsFormProps): ReactElement {
  const [saves, setSaves] = useState(0);
  if (!props.mayChange) return <SettingsFacts {...props} />;
  return <OpenForm key={saves} {...props} onSaved={() => setSaves((count) => count + 1)} />;
}

/** The server checks the form first; then a dialog shows what changes, and saves only that. */
function OpenForm(props: SettingsFormProps & { readonly onSaved: () => void }): ReactElement {
  const { name, groups, settings, send, commandOf, planOf, effectOf, endpoints, extra, onSaved } = props;
  const outdate = useOutdate();
  const fields = groups.flatMap((group) => group.fields);
  // What others change meanwhile does not change the form: only what the user has changed is sent.
  const [initial] = useState<FormValues>(() =>
    Object.fromEntries(fields.map((field) => [field.path, fieldValue(field, settings)])),
  );
  const [changes, setChanges] = useState<readonly SettingChange[] | null>(null);
  const form = useForm({
    initial,
    send: async (values) => {
      const changed = changesOf(fields, initial, values);
      if (changed.length > 0) await send(changed, { dryRun: true });
      return changed;
    },
    onDone: (changed) => {
      if (changed.length > 0) setChanges(changed);
      else notifyDone("There are no changes to save.");
    },
  });
  return (
    <div className="config-form">
      <Form
        form={form}
        submit="Save"
        beside={
          planOf !== undefined && (
            <PlanButton
              name={name}
              change={() => planFor(() => planOf(changesOf(fields, initial, form.values)))}
              onApplied={() => void outdate(...endpoints).then(onSaved)}
              onKept={onSaved}
            />
          )
        }
      >
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
        <SaveDialog
          name={name}
          changes={changes}
          effect={effectOf?.(changes) ?? null}
          command={commandOf(changes)}
          save={async () => {
            await send(changes, {});
            await outdate(...endpoints);
          }}
          onSaved={onSaved}
          onClose={() => setChanges(null)}
        />
      )}
    </div>
  );
}

/** What is no JSON cannot be planned. */
function planFor(plan: () => PlanRequest | string): PlanRequest | string {
  try {
    return plan();
  } catch (error) {
    return errorTexts(error).join("; ");
  }
}

const SettingsFacts = ({ groups, settings }: SettingsFormProps): ReactElement => (
  <div className="grid">
    {groups.map(({ title, fields }) => (
      <section key={title} className="card">
        {title !== "" && <h2>{title}</h2>}
        <Facts facts={fields.map(({ path, label }) => [label, settingText(valueAt(settings, path))])} />
      </section>
    ))}
  </div>
);

const settingText = (value: unknown): string =>
  value === true ? "yes" : value === false ? "no" : value === null || value === "" ? "not set" : shownValue(value);
