import type { ReactElement } from "react";
import { type LabelItem, labelsApi } from "../../../../api/hosts/labels.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";

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
  return (
    <ConfirmDialog title={`Delete ${label.name}`} verb="Delete" onConfirm={confirm} onClose={onClose}>
      <p>
        {counted(label.count, "host")} {label.count === 1 ? "has" : "have"} this label. The hosts stay. While profiles,
        software or others use the label, it cannot be deleted.
      </p>
    </ConfirmDialog>
  );
}
