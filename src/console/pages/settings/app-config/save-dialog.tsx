import type { ReactElement } from "react";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable, quoted } from "../../../parts/as-command.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { session } from "../../../session.ts";
import { bodyOf, differencesOf, withoutSecrets } from "./fields.ts";
import type { SettingChange } from "./setting-types.ts";

interface SaveDialogProps {
  /** What is saved: "Organization". */
  readonly name: string;
  /** Whether the checks are skipped that need other servers. */
  readonly isForced?: boolean;
  readonly changes: readonly SettingChange[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Shows what a form changes, key by key, before it is saved. */
export function SaveDialog({ name, isForced = false, changes, onSaved, onClose }: SaveDialogProps): ReactElement {
  const outdate = useOutdate();
  const save = async () => {
    await client.call(appConfigApi.modify, { query: { force: isForced }, body: bodyOf(changes) as never });
    // The name of the organization and GitOps mode are shown around every page.
    await Promise.all([outdate(appConfigApi.get), session.renew()]);
    notifyDone("The settings are saved.");
    return true;
  };
  return (
    <ConfirmDialog
      title={`Save ${name}`}
      verb="Save"
      isDangerous={false}
      onConfirm={save}
      onClose={(isSaved) => (isSaved === true ? onSaved() : onClose())}
    >
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
      <Copyable label="Command line" text={commandOf(withoutSecrets(changes), isForced)} />
    </ConfirmDialog>
  );
}

/** Texts stand as they are in the command line, everything else as JSON. */
const commandOf = (changes: readonly SettingChange[], isForced: boolean): string =>
  [
    isForced ? "svc config set --force" : "svc config set",
    ...changes.map(({ path, after }) => quoted(`${path}=${typeof after === "string" ? after : JSON.stringify(after)}`)),
  ].join(" ");
