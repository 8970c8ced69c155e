import type { ReactElement } from "react";
import { type CustomVariable, variablesApi } from "../../../../api/settings/variables.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

interface DeleteVariableDialogProps {
  readonly variable: CustomVariable;
  readonly onClose: () => void;
}

export default function DeleteVariableDialog({ variable, onClose }: DeleteVariableDialogProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(variablesApi.delete, { params: { id: variable.id } });
    notifyDone(`${variable.name} is deleted.`);
    await outdate(variablesApi.list);
  };
  return (
    <ConfirmDialog title={`Delete ${variable.name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>
        Its value is lost. While a script, a profile or software names <code>$SVC_SECRET_{variable.name}</code>, it
        cannot be deleted.
      </p>
    </ConfirmDialog>
  );
}
