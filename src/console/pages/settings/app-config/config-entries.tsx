import { type ReactElement, useState } from "react";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";
import { changeConfig, configCommand } from "./change-config.ts";
import { WithConfig } from "./config-part.tsx";
import { EntryDialog } from "./entry-dialog.tsx";
import type { EntryList } from "./entry-lists.ts";
import { valueAt } from "./fields.ts";
import { SaveDialog } from "./save-dialog.tsx";
import type { SettingChange } from "./setting-types.ts";

interface ConfigEntriesProps<Entry extends object> {
  readonly list: EntryList<Entry>;
}

interface CheckedChange {
  readonly changes: readonly SettingChange[];
  readonly isForced: boolean;
}

/** A setting that is a list of objects: a table, with dialogs to add, change and delete one. */
export const ConfigEntries = <Entry extends object>({ list }: ConfigEntriesProps<Entry>): ReactElement => (
  <Card title={list.name}>
    <p className="quiet">{list.purpose}</p>
    <WithConfig>
      {(config) => <Entries list={list} entries={valueAt(config, list.path) as readonly Entry[]} />}
    </WithConfig>
  </Card>
);

interface EntriesProps<Entry extends object> extends ConfigEntriesProps<Entry> {
  readonly entries: readonly Entry[];
}

function Entries<Entry extends object>({ list, entries }: EntriesProps<Entry>): ReactElement {
  const outdate = useOutdate();
  const [edited, setEdited] = useState<number | null>(null);
  const [deleted, setDeleted] = useState<number | null>(null);
  const [checked, setChecked] = useState<CheckedChange | null>(null);
  const mayWrite = may("config:write", null);
  const rows = entries.map((entry, at) => ({ entry, at }));
  const action = {
    name: "Action",
    cell: ({ entry, at }: (typeof rows)[number]) => (
      <RowButtons
        name={list.nameOf(entry)}
        buttons={[
          { kind: "edit", label: "Edit" },
          { kind: "delete", label: "Delete", isDangerous: true },
        ]}
        onSelect={(kind) => (kind === "edit" ? setEdited(at) : setDeleted(at))}
      />
    ),
  };
  const closeAll = () => {
    setChecked(null);
    setEdited(null);
  };
  return (
    <>
      <SmallTable
        name={list.name}
        rows={rows}
        keyOf={({ at }) => at}
        columns={[
          ...list.columns.map(({ cell, ...column }) => ({
            ...column,
            cell: ({ entry }: (typeof rows)[number]) => cell(entry),
          })),
          ...(mayWrite ? [action] : []),
        ]}
        empty={list.empty}
      />
      {mayWrite && (
        <p className="after-table">
          <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setEdited(entries.length)}>
            Add {list.thing}
          </button>
        </p>
      )}
      {edited !== null && (
        <EntryDialog
          key={edited}
          list={list}
          entries={entries}
          at={edited}
          onChecked={(changes, isForced) => setChecked({ changes, isForced })}
          onClose={() => setEdited(null)}
        />
      )}
      {checked !== null && (
        <SaveDialog
          name={list.name}
          changes={checked.changes}
          command={configCommand(checked.changes, checked.isForced)}
          save={async () => {
            await changeConfig(checked.changes, { isForced: checked.isForced });
            await outdate(appConfigApi.get);
          }}
          onSaved={closeAll}
          onClose={() => setChecked(null)}
        />
      )}
      {deleted !== null && (
        <DeleteEntryDialog list={list} entries={entries} at={deleted} onClose={() => setDeleted(null)} />
      )}
    </>
  );
}

interface DeleteEntryProps<Entry extends object> extends EntriesProps<Entry> {
  readonly at: number;
  readonly onClose: () => void;
}

function DeleteEntryDialog<Entry extends object>({ list, entries, at, onClose }: DeleteEntryProps<Entry>) {
  const outdate = useOutdate();
  const [name] = useState(() => list.nameOf(entries[at]!));
  const remove = async () => {
    const change = { path: list.path, before: entries, after: entries.toSpliced(at, 1) };
    await changeConfig([change]);
    await outdate(appConfigApi.get);
    notifyDone(`${name} is deleted.`);
  };
  return (
    <ConfirmDialog title={`Delete ${name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>{list.deletion}</p>
    </ConfirmDialog>
  );
}
