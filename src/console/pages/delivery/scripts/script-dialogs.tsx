// The dialogs of the list of scripts, loaded with the first of them.
import type { ReactElement } from "react";
import { AddScriptDialog } from "./add-script-dialog.tsx";
import { DeleteScriptDialog } from "./delete-script-dialog.tsx";
import { EditScriptDialog } from "./edit-script-dialog.tsx";
import type { OpenScriptDialog } from "./open-dialog.ts";
import { RunDialog } from "./run-dialog.tsx";

interface ScriptDialogsProps {
  readonly dialog: OpenScriptDialog;
  readonly teamId: number;
  readonly onClose: () => void;
}

export default function ScriptDialogs({ dialog, teamId, onClose }: ScriptDialogsProps): ReactElement {
  if (dialog.name === "add") return <AddScriptDialog teamId={teamId} onClose={onClose} />;
  const { script } = dialog;
  if (dialog.name === "edit") return <EditScriptDialog script={script} onClose={onClose} />;
  if (dialog.name === "delete") return <DeleteScriptDialog script={script} onClose={onClose} />;
  return <RunDialog script={script} onClose={onClose} />;
}
