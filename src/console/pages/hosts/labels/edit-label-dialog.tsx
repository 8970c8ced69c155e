import type { ReactElement } from "react";
import { type LabelItem, labelsApi } from "../../../../api/hosts/labels.ts";
import { labelHostsApi } from "../../../../api/inventory/label-hosts.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { PlanButton } from "../../../parts/plans/plan-button.tsx";
import { may } from "../../../session.ts";
import { planOfLabel } from "./label-plan.ts";
import { PreviewLine } from "./label-preview.tsx";
import { linesOf } from "./lines.ts";

interface EditLabelDialogProps {
  readonly label: LabelItem;
  readonly onClose: () => void;
}

const membersOf = ({ id }: LabelItem) => ({ params: { id: String(id) }, query: { fields: "hostname,uuid" } });

const linesFor = (hosts: readonly Member[]): string => hosts.map(({ hostname, uuid }) => hostname || uuid).join("\n");

/** Changes the name and description of a label, and the hosts of a manual one. */
export function EditLabelDialog({ label, onClose }: EditLabelDialogProps): ReactElement {
  const isManual = label.label_membership_type === "manual";
  const reply = useRead(labelHostsApi.hosts, membersOf(label), { enabled: isManual });
  return (
    <Dialog title={`Edit ${label.name}`} onClose={onClose}>
      {isManual ? (
        <Read from={reply} what="hosts">
          {({ hosts }) => <EditForm label={label} hosts={hosts} onClose={onClose} />}
        </Read>
      ) : (
        <EditForm label={label} hosts={null} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface EditFormProps extends EditLabelDialogProps {
  /** The hosts of a manual label. Null: its hosts are not named. */
  readonly hosts: readonly Member[] | null;
}

interface Member {
  readonly hostname: string;
  readonly uuid: string;
}

function EditForm({ label, hosts, onClose }: EditFormProps): ReactElement {
  const outdate = useOutdate();
  const params = { id: String(label.id) };
  const refresh = () => outdate(labelsApi.list, labelsApi.summary, labelHostsApi.hosts);
  const restore = async () => {
    const members = (hosts ?? []).map(({ hostname, uuid }) => uuid || hostname);
    await request(() => client.call(labelsApi.modify, { params, body: { hosts: members } }));
    await refresh();
    return `${label.name} has its former hosts again.`;
  };
  const hostLines = hosts === null ? null : linesFor(hosts);
  const form = useForm({
    initial: {
      name: label.name,
      description: label.description,
      hosts: hostLines ?? "",
    },
    send: (_, options, { hosts: text, ...changes }) => {
      const body = { ...changes, ...(text === undefined ? {} : { hosts: linesOf(text) }) };
      return client.call(labelsApi.modify, { params, body }, options);
    },
    storedLists: async () =>
      hosts === null
        ? {}
        : { hosts: linesFor((await client.call(labelHostsApi.hosts, membersOf(label))).hosts as readonly Member[]) },
    onDone: (_, { name }, changes) => {
      notifyDone(`${name} is saved.`, isOnlyMembers(changes) ? { undo: restore } : {});
      changed();
    },
  });
  const changed = () => {
    onClose();
    void refresh();
  };
  return (
    <Form
      form={form}
      submit="Save"
      beside={
        may("labels:write_any", null) && (
          <PlanButton
            name={label.name}
            change={() => planOfLabel(label, form.values, hostLines)}
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
      {hosts !== null && form.values.hosts !== hostLines && (
        <PreviewLine body={{ label_id: label.id, hosts: linesOf(form.values.hosts) }} />
      )}
      {hosts === null && (
        <p className="hint">What decides which hosts have the label cannot be changed. Create another one for that.</p>
      )}
    </Form>
  );
}

/** Whether the hosts are all that was changed: they can be restored. */
const isOnlyMembers = (changes: object): boolean => Object.keys(changes).join() === "hosts";
