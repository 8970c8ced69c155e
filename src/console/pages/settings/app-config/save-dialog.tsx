import type { ReactElement } from "react";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable } from "../../../parts/as-command.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { differencesOf } from "./fields.ts";
import type { SettingChange } from "./setting-types.ts";

interface SaveDialogProps {
  /** What is saved: "Organization". */
  readonly name: string;
  readonly changes: readonly SettingChange[];
  /** What the change does, as far as it needs to be said. */
  readonly effect?: string | null;
  /** The same in a terminal. */
  readonly command: string;
  /** Sends the changes, and has what shows them read again. */
  readonly save: () => Promise<unknown>;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Shows what a form changes, key by key, before it is saved. */
export function SaveDialog(props: SaveDialogProps): ReactElement {
  const { name, changes, effect = null, command, save, onSaved, onClose } = props;
  const confirm = async () => {
    await save();
    notifyDone("The settings are saved.");
    return true;
  };
  return (
    <ConfirmDialog
      title={`Save ${name}`}
      verb="Save"
      isDangerous={false}
      onConfirm={confirm}
      onClose={(isSaved) => (isSaved === true ? onSaved() : onClose())}
    >
      {effect !== null && <p>{effect}</p>}
      <SmallTable
        name="Changes"
        rows={differencesOf(changes)}
        keyOf={({ key }) => key}
        columns={[
          { name: "Setting", cell: ({ key }) => <code>{key}</code> },
          { name: "Old", cell: ({ before }) => <del>{before}</del> },
          { name: "New", cell: ({ after }) => <ins>{after}</ins> },
        ]}
        empty="Nothing changes."
      />
      <Copyable label="Command line" text={command} />
    </ConfirmDialog>
  );
}
