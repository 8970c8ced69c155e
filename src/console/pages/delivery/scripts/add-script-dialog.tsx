import type { ReactElement } from "react";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { ofTeam } from "../../../parts/one-team.tsx";
import { fileOf, ScriptField } from "./script-field.tsx";

interface AddScriptDialogProps {
  readonly teamId: number;
  readonly onClose: () => void;
}

/** Saves a script that is typed, or read from a file. */
export function AddScriptDialog({ teamId, onClose }: AddScriptDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: "", script: "" },
    send: ({ name, script }, options) =>
      client.call(scriptsApi.create, { body: { ...ofTeam(teamId), script: fileOf(name.trim(), script) } }, options),
    onDone: (_, { name }) => {
      notifyDone(`${name.trim()} is added.`);
      onClose();
      void outdate(scriptsApi.list, scriptsApi.ofHost);
    },
  });
  return (
    <Dialog title="Add script" isWide hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Add script" onCancel={onClose}>
        <ScriptField form={form} onFile={(name) => form.set("name", name)}>
          <TextField
            form={form}
            name="name"
            label="Name"
            hint="Ends in .sh or .py for macOS and Linux, in .ps1 for Windows."
          />
        </ScriptField>
      </Form>
    </Dialog>
  );
}
