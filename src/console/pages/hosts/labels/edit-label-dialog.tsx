import type { ReactElement } from "react";
import { type LabelItem, labelsApi } from "../../../../api/hosts/labels.ts";
import { labelHostsApi } from "../../../../api/inventory/label-hosts.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { PlanButton } from "../../../parts/plans/plan-button.tsx";
import { Read } from "../../../parts/read.tsx";
import { may } from "../../../session.ts";
import { planOfLabel } from "./label-plan.ts";
import { PreviewLine } from "./label-preview.tsx";
import { linesOf } from "./lines.ts";

interface EditLabelDialogProps {
  readonly label: LabelItem;
  readonly onClose: () => void;
}

/** Changes the name and description of a label, and the hosts of a manual one. */
export function EditLabelDialog({ label, onClose }: EditLabelDialogProps): ReactElement {
  const isManual = label.label_membership_type === "manual";
  const input = { params: { id: String(label.id) }, query: { fields: "hostname,uuid" } };
  const reply = useRead(labelHostsApi.hosts, input, { enabled: isManual });
  return (
    <Dialog title={`Edit ${label.name}`} onClose={onClose}>
      {isManual ? (
        <Read from={reply} what="hosts">
          {({ hosts }) => (
            <EditForm
              label={label}
              hosts={hosts.map(({ hostname, uuid }) => hostname || uuid).join("\n")}
              onClose={onClose}
            />
          )}
        </Read>
      ) : (
        <EditForm label={label} hosts={null} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface EditFormProps extends EditLabelDialogProps {
  /** The hosts of a manual label, one on each line. Null: its hosts are not named. */
  readonly hosts: string | null;
}

function EditForm({ label, hosts, onClose }: EditFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: label.name, description: label.description, hosts: hosts ?? "" },
    send: ({ name, description, hosts: text }, options) => {
      const isChanged = hosts !== null && text !== hosts;
      const body = { name, description, ...(isChanged ? { hosts: linesOf(text) } : {}) };
      return client.call(labelsApi.modify, { params: { id: String(label.id) }, body }, options);
    },
    onDone: (_, { name }) => {
      notifyDone(`${name} is saved.`);
      changed();
    },
  });
  const changed = () => {
    onClose();
    void outdate(labelsApi.list, labelsApi.summary, labelHostsApi.hosts);
  };
  return (
    <Form
      form={form}
      submit="Save"
      beside={
        may("labels:write_any", null) && (
          <PlanButton
            name={label.name}
            change={() => planOfLabel(label, form.values, hosts)}
            onApplied={changed}
            onKept={onClose}
          />
        )
      }
      onCancel={onClose}
    >
      <TextField form={form} name="name" label="Name" />
      <TextField form={form} name="description" label="Description" />
      {hosts !== null && (
        <TextAreaField
          form={form}
          name="hosts"
          label="Hosts"
          rows={8}
          hint="Serial numbers, UUIDs or hostnames, one on each line. Those that are not listed lose the label."
        />
      )}
      {hosts !== null && form.values.hosts !== hosts && (
        <PreviewLine body={{ label_id: label.id, hosts: linesOf(form.values.hosts) }} />
      )}
      {hosts === null && (
        <p className="hint">What decides which hosts have the label cannot be changed. Create another one for that.</p>
      )}
    </Form>
  );
}
