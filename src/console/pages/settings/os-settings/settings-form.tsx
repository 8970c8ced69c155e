import { type ReactElement, useState } from "react";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable } from "../../../parts/as-command.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { type FormValues, useForm } from "../../../parts/form/use-form.ts";
import { SmallTable } from "../../../parts/small-table.tsx";
import { ConfigControl } from "../app-config/config-control.tsx";
import { changesOf, differencesOf, shownValue, valueAt } from "../app-config/fields.ts";
import type { ConfigGroup, SettingChange } from "../app-config/setting-types.ts";

interface SettingsFormProps {
  /** What is saved: "OS updates". */
  readonly name: string;
  readonly groups: readonly ConfigGroup[];
  readonly settings: object;
  readonly mayChange: boolean;
  readonly send: (changes: readonly SettingChange[], options: { readonly dryRun?: boolean }) => Promise<unknown>;
  /** The same in a terminal. */
  readonly commandOf: (changes: readonly SettingChange[]) => string;
  /** What the change does, as far as it needs to be said. */
  readonly effectOf?: (changes: readonly SettingChange[]) => string | null;
  /** Where the settings are read from. */
  readonly endpoints: readonly AnyEndpoint[];
}

/** Settings of a team as a form, which starts again when they are saved. Users who may not change them see their values. */
export function SettingsForm(props: SettingsFormProps): ReactElement {
  const [saves, setSaves] = useState(0);
  if (!props.mayChange) return <SettingsFacts {...props} />;
  return <OpenForm key={saves} {...props} onSaved={() => setSaves((count) => count + 1)} />;
}

function OpenForm(props: SettingsFormProps & { readonly onSaved: () => void }): ReactElement {
  const { name, groups, settings, send, onSaved } = props;
  const fields = groups.flatMap((group) => group.fields);
  const [initial] = useState<FormValues>(() =>
    Object.fromEntries(fields.map(({ path }) => [path, valueAt(settings, path)])),
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
      {changes !== null && (
        <ChangesDialog {...props} changes={changes} onSaved={onSaved} onClose={() => setChanges(null)} />
      )}
    </div>
  );
}

interface ChangesDialogProps extends SettingsFormProps {
  readonly changes: readonly SettingChange[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Shows what the form changes, key by key, before it is saved. */
function ChangesDialog(props: ChangesDialogProps): ReactElement {
  const { name, changes, send, commandOf, effectOf, endpoints, onSaved, onClose } = props;
  const outdate = useOutdate();
  const effect = effectOf?.(changes) ?? null;
  const save = async () => {
    await send(changes, {});
    await outdate(...endpoints);
    notifyDone("The settings are saved.");
    return true;
  };
  return (
    <ConfirmDialog
      title={`Save ${name}`}
      verb="Save"
      isDangerous={false}
      onConfirm={save}
      onClose={(isSaved) => (isSaved === true ? onSaved() : onClose())}
    >
      {effect !== null && <p>{effect}</p>}
      <SmallTable
        name="Changes"
        rows={differencesOf(changes)}
        keyOf={({ key }) => key}
        columns={[
          { name: "Setting", cell: ({ key }) => <code>{key}</code> },
          { name: "Old", cell: ({ before }) => <del>{before}</del> },
          { name: "New", cell: ({ after }) => <ins>{after}</ins> },
        ]}
        empty="Nothing changes."
      />
      <Copyable label="Command line" text={commandOf(changes)} />
    </ConfirmDialog>
  );
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
