// What dialogs about a selection of hosts share: they freeze it when they open, and show its first hosts.
import { Fragment, type ReactElement, type ReactNode, useCallback, useEffect, useState } from "react";
import { ApiCallError } from "../../../../client/errors.ts";
import { counted, formatted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import type { Selection } from "../../../parts/list/definition.ts";
import { type FrozenSelection, freeze, freezeAgain, type HostDeed, type SelectedHost } from "./frozen-selection.ts";

export type HostSelection = Selection<SelectedHost>;

/** The hosts in the title of a dialog: the name of a single one, or their number. */
export const nameOfSelection = ({ count, first }: FrozenSelection): string =>
  count === 1 ? (first[0]?.display_name ?? "1 host") : counted(count, "host");

interface FrozenProps {
  readonly selection: HostSelection;
  readonly deed: HostDeed;
  readonly verb: string;
  readonly onClose: () => void;
  /**
   * `guard` runs the change: when the server refuses because the hosts are others by now, it reads them again. The dialog
   * then shows what has changed, and the user decides whether to go on with the hosts as they are now.
   */
  readonly children: (frozen: FrozenSelection, guard: Guard) => ReactNode;
}

export type Guard = <Value>(change: () => Promise<Value>) => Promise<Value>;

const CONFLICT = 409;

export function Frozen({ selection, deed, verb, onClose, children }: FrozenProps): ReactElement {
  const [frozen, setFrozen] = useState<FrozenSelection | null>(null);
  const [next, setNext] = useState<FrozenSelection | null>(null);
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const read = useCallback(async () => {
    setError(null);
    await freeze(selection, deed).then(setFrozen, setError);
  }, [selection, deed]);
  useEffect(() => void read(), [read]);
  const guard: Guard = async (change) => {
    try {
      return await change();
    } catch (thrown) {
      if (thrown instanceof ApiCallError && thrown.status === CONFLICT && frozen !== null)
        await freezeAgain(selection, deed, frozen).then(setNext, () => {});
      throw thrown;
    }
  };
  const accept = () => {
    setFrozen(next);
    setNext(null);
    setVersion(version + 1);
  };
  const shown = frozen !== null && next !== null ? { ...frozen, change: { count: next.count, accept } } : frozen;
  if (shown !== null && shown.count > 0) return <Fragment key={version}>{children(shown, guard)}</Fragment>;
  return (
    <Dialog title={`${verb} hosts`} onClose={onClose}>
      {error !== null && <ErrorMessage error={error} onRetry={() => void read()} />}
      {error === null && frozen === null && <p className="loading">Reading the selection</p>}
      {frozen !== null && <p>Your roles allow this on none of the selected hosts.</p>}
    </Dialog>
  );
}

/** The first hosts, how many others there are, how many are left out, and how the selection has changed since. */
export function FirstHosts({ frozen }: { readonly frozen: FrozenSelection }): ReactElement {
  const { count, first } = frozen;
  return (
    <>
      <HostNames hosts={first} count={count} />
      <SelectionNotes frozen={frozen} />
    </>
  );
}

interface HostNamesProps {
  readonly hosts: readonly Pick<SelectedHost, "id" | "display_name">[];
  readonly count: number;
}

/** The names of the first hosts of several. */
export function HostNames({ hosts, count }: HostNamesProps): ReactElement {
  const others = count - hosts.length;
  return (
    <ul aria-label="Hosts" className="first-hosts">
      {hosts.map(({ id, display_name }) => (
        <li key={id}>{display_name}</li>
      ))}
      {others > 0 && <li className="quiet">and {counted(others, "other host")}</li>}
    </ul>
  );
}

export function SelectionNotes({ frozen }: { readonly frozen: FrozenSelection }): ReactElement {
  const { count, leftOut, change } = frozen;
  return (
    <>
      {leftOut > 0 && (
        <p className="message note">
          {formatted(leftOut)} of the selected hosts {leftOut === 1 ? "is" : "are"} left out: your roles do not allow
          this on {leftOut === 1 ? "it" : "them"}.
        </p>
      )}
      {change !== undefined && (
        <div className="message note">
          <p>
            {change.count === count
              ? `The selection has changed: it is ${counted(count, "other host")} now.`
              : `The selection has changed: it was ${counted(count, "host")}, and is ${counted(change.count, "host")} now.`}
          </p>
          {change.count > 0 && (
            <button type="button" className="plain small" onClick={change.accept}>
              Continue with {counted(change.count, "host")}
            </button>
          )}
        </div>
      )}
    </>
  );
}
