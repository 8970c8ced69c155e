import type { ReactElement } from "react";
import { type Query, queriesApi } from "../../../../api/checks/queries.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";

interface DeleteQueriesDialogProps {
  readonly queries: readonly Query[];
  readonly onClose: (isDone: boolean) => void;
}

export function DeleteQueriesDialog({ queries, onClose }: DeleteQueriesDialogProps): ReactElement {
  const outdate = useOutdate();
  const what = queries.length === 1 ? queries[0]!.name : counted(queries.length, "query", "queries");
  const remove = async () => {
    await client.call(queriesApi.deleteMany, { body: { ids: queries.map(({ id }) => id) } });
    notifyDone(`${what}: deleted.`);
    await outdate(queriesApi.list);
    return true;
  };
  return (
    <ConfirmDialog title={`Delete ${what}`} verb="Delete" onConfirm={remove} onClose={(done) => onClose(done === true)}>
      <p>Their reports are deleted too, and hosts no longer run them.</p>
      <ul>
        {queries.slice(0, 10).map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
        {queries.length > 10 && <li>and {queries.length - 10} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
