import type { ReactElement } from "react";
import { type LabelItem, labelsApi } from "../../../../api/hosts/labels.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { UsesTable, useLabelUses } from "./label-uses.tsx";

interface DeleteLabelDialogProps {
  readonly label: LabelItem;
  readonly onClose: () => void;
}

export function DeleteLabelDialog({ label, onClose }: DeleteLabelDialogProps): ReactElement {
  const outdate = useOutdate();
  const confirm = async () => {
    await client.call(labelsApi.deleteById, { params: { id: String(label.id) } });
    notifyDone(`${label.name} is deleted.`);
    await outdate(labelsApi.list, labelsApi.summary);
  };
  const reply = useLabelUses(label);
  const isBlocked = reply.data?.uses.some(({ on_delete }) => on_delete === "refused") ?? false;
  return (
    <ConfirmDialog
      title={`Delete ${label.name}`}
      verb="Delete"
      blocked={isBlocked ? "Remove the label from what keeps it first." : undefined}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        {counted(label.count, "host")} {label.count === 1 ? "has" : "have"} this label. The hosts stay.
      </p>
      <Read from={reply} what="uses">
        {(uses) => <UsesTable uses={uses} />}
      </Read>
    </ConfirmDialog>
  );
}
