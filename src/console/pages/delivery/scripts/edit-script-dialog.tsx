import { type ReactElement, useState } from "react";
import { type Script, scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, useOutdate, useReadText } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextDiff } from "../../../parts/diff/text-diff.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { fileOf, ScriptField } from "./script-field.tsx";

interface EditScriptDialogProps {
  readonly script: Script;
  readonly onClose: () => void;
}

/** Changes the text of a saved script. What changes is shown before it is saved. */
export function EditScriptDialog({ script, onClose }: EditScriptDialogProps): ReactElement {
  const reply = useReadText(scriptsApi.get, { params: { id: script.id }, query: { alt: "media" } });
  const [isChanged, setChanged] = useState(false);
  return (
    <Dialog title={`Edit ${script.name}`} isWide hasChanges={isChanged} onClose={onClose}>
      <Read from={reply} what="script">
        {(text) => <EditForm script={script} text={text} onChanged={setChanged} onClose={onClose} />}
      </Read>
    </Dialog>
  );
}

interface EditFormProps extends EditScriptDialogProps {
  readonly text: string;
  readonly onChanged: (isChanged: boolean) => void;
}

function EditForm({ script, text: initialText, onChanged, onClose }: EditFormProps): ReactElement {
  const { id, name } = script;
  const outdate = useOutdate();
  const [before] = useState(initialText);
  const [reviewed, setReviewed] = useState<string | null>(null);
  const change = (text: string, options: { readonly dryRun?: boolean } = {}) =>
    client.call(scriptsApi.update, { params: { id }, body: { script: fileOf(name, text) } }, options);
  const form = useForm({
    initial: { script: before },
    // The form only has the text checked: it is saved after its changes have been seen.
    send: ({ script: text }) => change(text, { dryRun: true }),
    onDone: (_, { script: text }) => setReviewed(text),
  });
  const save = async (text: string) => {
    await change(text);
    notifyDone(`${name} is saved.`);
    await outdate(scriptsApi.list, scriptsApi.get);
    return true;
  };
  const set: typeof form.set = (field, value) => {
    onChanged(true);
    form.set(field, value);
  };
  return (
    <>
      <Form form={{ ...form, set }} submit="Save" onCancel={onClose}>
        <ScriptField form={{ ...form, set }} />
      </Form>
      {reviewed !== null && (
        <ConfirmDialog
          title={`Save ${name}`}
          verb="Save"
          isDangerous={false}
          onConfirm={() => save(reviewed)}
          onClose={(isSaved) => (isSaved === true ? onClose() : setReviewed(null))}
        >
          <TextDiff before={before} after={reviewed} />
          <p>Runs that wait for hosts keep the text that they began with. Later runs get this one.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
