import type { ReactElement } from "react";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form } from "../../../parts/form/form.tsx";
import { type FormValues, useForm } from "../../../parts/form/use-form.ts";
import { changeConfig } from "./change-config.ts";
import { ConfigControl } from "./config-control.tsx";
import type { EntryList } from "./entry-lists.ts";
import { controlValue, settingOf, valueAt } from "./fields.ts";
import type { SettingChange } from "./setting-types.ts";

interface EntryDialogProps<Entry extends object> {
  readonly list: EntryList<Entry>;
  readonly entries: readonly Entry[];
  /** Which one is edited; the number of entries: a new one. */
  readonly at: number;
  /** The server accepts the change, which is not saved yet. */
  readonly onChecked: (changes: readonly SettingChange[], isForced: boolean) => void;
  readonly onClose: () => void;
}

const FORCE = "isForced";

/** Adds an entry to a setting that is a list, or changes one. */
export function EntryDialog<Entry extends object>(props: EntryDialogProps<Entry>): ReactElement {
  const { list, entries, at, onChecked, onClose } = props;
  const entry = entries[at];
  // Fields are named as the server names them in errors.
  const fields = list.fields.map((field) => ({ ...field, path: `${list.path}.${at}.${field.path}`, key: field.path }));
  const initial: FormValues = {
    ...Object.fromEntries(
      fields.map((field) => [field.path, controlValue(field, valueAt(entry ?? list.blank, field.key))]),
    ),
    [FORCE]: false,
  };
  const form = useForm({
    initial,
    hasDryRun: false,
    send: async (values) => {
      const next = {
        ...(entry ?? list.blank),
        ...Object.fromEntries(fields.map((field) => [field.key, settingOf(field, values[field.path])])),
      };
      const after = entries.toSpliced(at, 1, next as Entry);
      if (JSON.stringify(after) === JSON.stringify(entries)) return null;
      const changes = [{ path: list.path, before: entries, after }];
      await changeConfig(changes, { dryRun: true, isForced: values[FORCE] === true });
      return changes;
    },
    onDone: (changes, values) => {
      if (changes !== null) return onChecked(changes, values[FORCE] === true);
      notifyDone("There are no changes to save.");
      onClose();
    },
  });
  return (
    <Dialog
      title={entry === undefined ? `Add ${list.thing}` : `Edit ${list.nameOf(entry)}`}
      hasChanges={form.isChanged}
      onClose={onClose}
    >
      <Form form={form} submit={entry === undefined ? `Add ${list.thing}` : "Save"} onCancel={onClose}>
        {fields.map((field) => (
          <ConfigControl key={field.path} form={form} field={field} />
        ))}
        {list.hasCheck && (
          <CheckField
            form={form}
            name={FORCE}
            label="Save without contacting it"
            hint="otherwise the server signs in there first, and refuses what does not work"
          />
        )}
      </Form>
    </Dialog>
  );
}
