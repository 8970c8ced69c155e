import type { ReactElement } from "react";
import { softwareApi } from "../../../../api/software/software.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";

interface RenameDialogProps {
  readonly title: { readonly id: number; readonly name: string };
  readonly onClose: () => void;
}

/** Changes the name that a title has for everybody, in all teams. */
export default function RenameDialog({ title, onClose }: RenameDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: title.name },
    send: ({ name }, options) =>
      client.call(softwareApi.rename, { params: { id: String(title.id) }, body: { name } }, options),
    onDone: (_, { name }) => {
      notifyDone(`The title is named ${name}.`);
      void outdate(softwareApi.title, softwareApi.titles, softwareApi.versions);
      onClose();
    },
  });
  return (
    <Dialog title={`Rename ${title.name}`} hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Rename" onCancel={onClose}>
        <TextField
          form={form}
          name="name"
          label="Name"
          hint="Hosts may report other names: the title is known by its bundle identifier, and keeps this name."
        />
      </Form>
    </Dialog>
  );
}
