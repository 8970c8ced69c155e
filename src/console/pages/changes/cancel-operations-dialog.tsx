import type { ReactElement } from "react";
import { hostActivitiesApi } from "../../../api/hosts/host-activities.ts";
import { type HostOperation, operationsApi } from "../../../api/hosts/operations.ts";
import { selectionHeaders, selectionOf } from "../../../api/hosts/selection-digest.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import { client, useOutdate } from "../../api.ts";
import { notifyDone, notifyFailed } from "../../frame/notices.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { counted } from "../../parts/counted.ts";
import { nameOfOperation } from "./operation-kinds.ts";

interface CancelOperationsDialogProps {
  readonly operations: readonly HostOperation[];
  readonly onClose: () => void;
}

const MAX_SHOWN = 10;

/** Cancels operations that hosts have not begun, after the user has seen which. */
export function CancelOperationsDialog({ operations, onClose }: CancelOperationsDialogProps): ReactElement {
  const outdate = useOutdate();
  const possible = operations.filter(({ can_cancel }) => can_cancel);
  const others = operations.filter(({ can_cancel }) => !can_cancel);
  const [only] = operations;
  const title =
    operations.length === 1 && only !== undefined ? nameOfOperation(only) : counted(operations.length, "operation");
  const cancel = async () => {
    const ids = possible.map(({ id }) => id);
    const { count, digest } = await selectionOf(ids);
    const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
    const { cancelled, not_cancelled } = await client.call(operationsApi.cancel, { body: { ids } }, { headers });
    if (cancelled.length > 0)
      notifyDone(`${counted(cancelled.length, "operation")} ${cancelled.length === 1 ? "is" : "are"} cancelled.`);
    const [first] = not_cancelled;
    if (first !== undefined)
      notifyFailed(new Error(`${counted(not_cancelled.length, "operation")} not cancelled: ${first.reason}`));
    await outdate(operationsApi.list, hostActivitiesApi.upcoming, hostsApi.get);
  };
  return (
    <ConfirmDialog
      title={`Cancel ${title}`}
      verb={possible.length === 1 ? "Cancel operation" : "Cancel operations"}
      dismiss="Keep"
      isReady={possible.length > 0}
      onConfirm={cancel}
      onClose={onClose}
    >
      <p>Hosts that have not begun it do not get it any more. What a host has begun goes on.</p>
      {possible.length > 0 && (
        <ul aria-label="Operations" className="first-hosts">
          {possible.slice(0, MAX_SHOWN).map((operation) => (
            <li key={operation.id}>{nameOfOperation(operation)}</li>
          ))}
          {possible.length > MAX_SHOWN && (
            <li className="quiet">and {counted(possible.length - MAX_SHOWN, "other operation")}</li>
          )}
        </ul>
      )}
      {others.length > 0 && (
        <div className="message note">
          <p>{counted(others.length, "operation")} left out:</p>
          <ul aria-label="Left out">
            {others.slice(0, MAX_SHOWN).map((operation) => (
              <li key={operation.id}>
                {nameOfOperation(operation)}: {operation.reason_not_cancellable}
              </li>
            ))}
            {others.length > MAX_SHOWN && <li>and {counted(others.length - MAX_SHOWN, "other operation")}</li>}
          </ul>
        </div>
      )}
    </ConfirmDialog>
  );
}
