import { type ReactElement, useId, useState } from "react";
import { type Ca, type CaItem, type CaType, caApi } from "../../../../api/certificates/ca.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { type Form as FormState, type FormValues, useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { type CaField, caBody, caKinds, caTypes, caValues, fieldNameOf } from "./ca-kinds.ts";

/** Is no field of an authority. */
const SKIP = "skip_check";

export function NewCaDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const id = useId();
  const [type, setType] = useState<CaType>(caTypes[0]!);
  return (
    <Dialog title="Add authority" onClose={onClose}>
      <div className="field">
        <label htmlFor={id}>Kind</label>
        <select
          id={id}
          aria-describedby={`${id}-hint`}
          value={type}
          onChange={({ target }) => setType(target.value as CaType)}
        >
          {caTypes.map((kind) => (
            <option key={kind} value={kind}>
              {caKinds[kind].label}
            </option>
          ))}
        </select>
        <p id={`${id}-hint`} className="hint">
          {caKinds[type].purpose}
        </p>
      </div>
      <CaForm key={type} type={type} ca={null} onClose={onClose} />
    </Dialog>
  );
}

interface EditCaProps {
  readonly item: CaItem;
  readonly onClose: () => void;
}

export function EditCaDialog({ item, onClose }: EditCaProps): ReactElement {
  const reply = useRead(caApi.get, { params: { id: String(item.id) } }, { staleTime: 0 });
  return (
    <Dialog title={`Edit ${item.name}`} onClose={onClose}>
      <Read from={reply} what="authority">
        {(ca) => <CaForm type={ca.type} ca={ca} onClose={onClose} />}
      </Read>
    </Dialog>
  );
}

interface CaFormProps {
  readonly type: CaType;
  /** Null: a new one. */
  readonly ca: Ca | null;
  readonly onClose: () => void;
}

function CaForm({ type, ca, onClose }: CaFormProps): ReactElement {
  const outdate = useOutdate();
  const [initial] = useState<FormValues>(() => ({ ...caValues(type, ca ?? {}), [SKIP]: false }));
  const form = useForm({
    initial,
    // The check would contact the authority each time that a field is left.
    hasDryRun: false,
    send: async (values) => {
      const query = { skip_check: values[SKIP] === true };
      if (ca === null) return client.call(caApi.create, { query, body: { [type]: caBody(type, values) } as never });
      const before = caBody(type, initial);
      const changed = Object.entries(caBody(type, values)).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
      );
      if (changed.length === 0) return null;
      const body = { [type]: Object.fromEntries(changed) } as never;
      return client.call(caApi.modify, { params: { id: String(ca.id) }, query, body });
    },
    onDone: async (reply, values) => {
      const name = String(values[`${type}.name`] ?? type);
      notifyDone(
        reply === null
          ? "There are no changes to save."
          : `The authority ${name} is ${ca === null ? "added" : "changed"}.`,
      );
      await outdate(caApi.list, caApi.get);
      onClose();
    },
  });
  return (
    <Form form={form} submit={ca === null ? "Add authority" : "Save"} onCancel={onClose}>
      {caKinds[type].fields.map((field) => (
        <CaControl key={field.name} form={form} name={fieldNameOf(type, field)} field={field} isStored={ca !== null} />
      ))}
      <CheckField
        form={form}
        name={SKIP}
        label="Save without contacting it"
        hint="otherwise the server tries the settings there first, and refuses what does not work"
      />
    </Form>
  );
}

interface CaControlProps {
  readonly form: FormState<FormValues>;
  readonly name: string;
  readonly field: CaField;
  /** Whether the server has a secret already. */
  readonly isStored: boolean;
}

function CaControl({ form, name, field, isStored }: CaControlProps): ReactElement {
  const { label, kind } = field;
  const hint =
    kind === "secret" && isStored ? "stored encrypted and never shown; another URL needs it again" : field.hint;
  const props = { form, name, label, ...(hint === undefined ? {} : { hint }) };
  if (kind === "check") return <CheckField {...props} />;
  if (kind === "lines") return <TextAreaField {...props} rows={1} />;
  if (kind === "secret") return <TextField {...props} type="password" autoComplete="new-password" />;
  return <TextField {...props} type={kind} />;
}
