import type { ReactElement, ReactNode } from "react";
import type { BulkOutcome } from "../../../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { useOutdate } from "../../../api.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import type { FrozenSelection } from "../hosts/frozen-selection.ts";
import { FirstHosts, type Guard, HostNames, nameOfSelection, SelectionNotes } from "../hosts/selected-hosts.tsx";
import { reportBulk } from "./report.ts";
import { type Preview, type SendBulk, usePreview } from "./use-preview.ts";

export interface BulkProps {
  readonly frozen: FrozenSelection;
  readonly guard: Guard;
  readonly onClose: () => void;
}

interface BulkDialogProps extends BulkProps {
  /** Action and object: "Lock 12 hosts". */
  readonly title: string;
  readonly verb: string;
  /** Null: something has to be chosen first. The same function as long as it would do the same. */
  readonly send: SendBulk | null;
  /** What is chosen, what happens, and what cannot be undone. */
  readonly children: ReactNode;
  /** What has happened to hosts: "12 hosts will be locked when they are online." */
  readonly done: (hosts: string) => string;
  /** Whether the user types the name or number of the hosts. */
  readonly isTyped?: boolean;
  readonly hasReason?: boolean;
  readonly isDangerous?: boolean;
  /** Whether what waits for hosts can be cancelled, which is offered afterwards. */
  readonly canUndo?: boolean;
}

/** Shows what an action on many hosts would do, and does it to exactly these hosts. */
export function BulkDialog(props: BulkDialogProps): ReactElement {
  const { frozen, guard, title, verb, send, children, done, onClose } = props;
  const { isTyped = false, hasReason = false, isDangerous = false, canUndo = false } = props;
  const outdate = useOutdate();
  const preview = usePreview(send, frozen.headers);
  const name = nameOfSelection(frozen);
  const confirm = (reason: string) =>
    guard(async () => {
      const outcome = await send!({ headers: frozen.headers }, reason);
      const outdated = () => outdate(hostsApi.list, hostsApi.count, hostsApi.get, hostsApi.facets);
      reportBulk(outcome, { name, done, canUndo, onUndone: () => void outdated() });
      await outdated();
    });
  return (
    <ConfirmDialog
      title={title}
      verb={verb}
      isDangerous={isDangerous}
      hasReason={hasReason}
      isReady={send !== null && preview.outcome !== null && preview.outcome.done > 0}
      {...(isTyped ? { typed: frozen.count === 1 ? name : String(frozen.count) } : {})}
      onConfirm={confirm}
      onClose={onClose}
    >
      {children}
      <PreviewOfHosts frozen={frozen} preview={preview} />
    </ConfirmDialog>
  );
}

interface PreviewOfHostsProps {
  readonly frozen: FrozenSelection;
  readonly preview: Preview;
}

function PreviewOfHosts({ frozen, preview: { outcome, error, retry } }: PreviewOfHostsProps): ReactElement {
  if (outcome === null)
    return (
      <>
        <FirstHosts frozen={frozen} />
        {error !== null && <ErrorMessage error={error} onRetry={retry} />}
      </>
    );
  const { done, hosts, approval } = outcome;
  return (
    <>
      {done === 0 ? <p>This is possible on none of these hosts.</p> : <HostNames hosts={hosts} count={done} />}
      <LeftOut outcome={outcome} />
      <SelectionNotes frozen={frozen} />
      {approval !== undefined && (
        <p className="message note">
          Another user has to approve this first, on the page Changes. Until then nothing happens to the hosts.
        </p>
      )}
    </>
  );
}

/** The hosts that are left out, by the reason. */
function LeftOut({ outcome: { skipped, skipped_reasons } }: { readonly outcome: BulkOutcome }): ReactElement | null {
  if (skipped === 0) return null;
  return (
    <div className="message note">
      <p>{counted(skipped, "host")} left out:</p>
      <ul aria-label="Left out">
        {skipped_reasons.map(({ reason, count, hosts }) => (
          <li key={reason}>
            {reason}: {hosts.map(({ display_name }) => display_name).join(", ")}
            {count > hosts.length && ` and ${counted(count - hosts.length, "other host")}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
