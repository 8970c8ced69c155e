// The dialogs about certificate templates, in a file that is loaded when one is first opened.
import type { ReactElement } from "react";
import { caApi } from "../../../../api/certificates/ca.ts";
import { type CertificateTemplate, certificatesApi } from "../../../../api/certificates/certificates.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { ofTeam } from "../../../parts/one-team.tsx";
import { may } from "../../../session.ts";
import type { OpenTemplateDialog } from "./certificates-tab.tsx";

interface TemplateDialogsProps {
  readonly dialog: OpenTemplateDialog;
  readonly onClose: () => void;
}

export default function TemplateDialogs({ dialog, onClose }: TemplateDialogsProps): ReactElement {
  return dialog.name === "add" ? (
    <AddTemplateDialog teamId={dialog.teamId} onClose={onClose} />
  ) : (
    <DeleteTemplateDialog template={dialog.template} onClose={onClose} />
  );
}

interface AddProps {
  readonly teamId: number;
  readonly onClose: () => void;
}

/** Only some roles may list the authorities; others name one by its id. */
function AddTemplateDialog({ teamId, onClose }: AddProps): ReactElement {
  const mayList = may("ca:read", null);
  const reply = useRead(caApi.list, {}, { enabled: mayList });
  return (
    <Dialog title="Add certificate" onClose={onClose}>
      {mayList ? (
        <Read from={reply} what="authorities">
          {({ certificate_authorities: all }) => {
            const options = all
              .filter(({ type }) => type === "custom_scep_proxy")
              .map(({ id, name }) => ({ value: String(id), label: name }));
            return options.length === 0 ? (
              <p>
                There is no authority with SCEP yet. <code>svc ca create</code> adds one.
              </p>
            ) : (
              <AddForm teamId={teamId} authorities={options} onClose={onClose} />
            );
          }}
        </Read>
      ) : (
        <AddForm teamId={teamId} authorities={null} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface AddFormProps extends AddProps {
  readonly authorities: readonly { readonly value: string; readonly label: string }[] | null;
}

function AddForm({ teamId, authorities, onClose }: AddFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: {
      name: "",
      certificate_authority_id: authorities?.[0]?.value ?? "",
      subject_name: "",
      subject_alternative_name: "",
    },
    send: ({ certificate_authority_id, ...values }, options) => {
      const body = { ...values, ...ofTeam(teamId), certificate_authority_id: Number(certificate_authority_id) };
      return client.call(certificatesApi.create, { body }, options);
    },
    onDone: (_, { name }) => {
      notifyDone(`${name} is added. Android hosts get it when they next connect.`);
      void outdate(certificatesApi.list);
      onClose();
    },
  });
  return (
    <Form form={form} submit="Add certificate" onCancel={onClose}>
      <TextField form={form} name="name" label="Name" />
      {authorities === null ? (
        <TextField form={form} name="certificate_authority_id" label="Authority" hint="the id of one with SCEP" />
      ) : (
        <SelectField form={form} name="certificate_authority_id" label="Authority" options={authorities} />
      )}
      <TextField
        form={form}
        name="subject_name"
        label="Subject"
        hint="Fields as /CN=value/O=value; variables such as $SVC_VAR_HOST_HARDWARE_SERIAL stand for the host's values."
      />
      <TextField
        form={form}
        name="subject_alternative_name"
        label="Alternative names"
        hint="Pairs such as DNS=value, EMAIL=value; empty: none."
      />
    </Form>
  );
}

interface DeleteProps {
  readonly template: CertificateTemplate;
  readonly onClose: () => void;
}

function DeleteTemplateDialog({ template, onClose }: DeleteProps): ReactElement {
  const outdate = useOutdate();
  const { id, name } = template;
  const remove = async () => {
    await client.call(certificatesApi.delete, { params: { id: String(id) } });
    notifyDone(`${name} is deleted.`);
    await outdate(certificatesApi.list);
  };
  return (
    <ConfirmDialog title={`Delete ${name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>Android hosts that got a certificate by it remove it; the authority does not revoke it.</p>
    </ConfirmDialog>
  );
}
