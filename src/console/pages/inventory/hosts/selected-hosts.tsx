// What dialogs about a selection of hosts share: they freeze it when they open, and show its first hosts.
import { type ReactElement, type ReactNode, useCallback, useEffect, useState } from "react";
import { ApiCallError } from "../../../../client/errors.ts";
import { counted, formatted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import type { Selection } from "../../../parts/list/definition.ts";
import { type FrozenSelection, freeze, type HostDeed, type SelectedHost } from "./frozen-selection.ts";

export type HostSelection = Selection<SelectedHost>;

/** The hosts in the title of a dialog: the name of a single one, or their number. */
export const nameOfSelection = ({ count, first }: FrozenSelection): string =>
  count === 1 ? (first[0]?.display_name ?? "1 host") : counted(count, "host");

interface FrozenProps {
  readonly selection: HostSelection;
  readonly deed: HostDeed;
  readonly verb: string;
  readonly onClose: () => void;
  /** `guard` runs the change: when the server refuses because the hosts are others by now, it reads them again. */
  readonly children: (frozen: FrozenSelection, guard: Guard) => ReactNode;
}

export type Guard = <Value>(change: () => Promise<Value>) => Promise<Value>;

const CONFLICT = 409;

export function Frozen({ selection, deed, verb, onClose, children }: FrozenProps): ReactElement {
  const [frozen, setFrozen] = useState<FrozenSelection | null>(null);
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
      if (thrown instanceof ApiCallError && thrown.status === CONFLICT) await read();
      throw thrown;
    }
  };
  if (frozen !== null && frozen.count > 0) return <>{children(frozen, guard)}</>;
  return (
    <Dialog title={`${verb} hosts`} onClose={onClose}>
      {error !== null && <ErrorMessage error={error} onRetry={() => void read()} />}
      {error === null && frozen === null && <p className="loading">Reading the selection</p>}
      {frozen !== null && <p>Your roles allow this on none of the selected hosts.</p>}
    </Dialog>
  );
}

/** The first hosts, how many others there are, and how many are left out. */
export function FirstHosts({ frozen }: { readonly frozen: FrozenSelection }): ReactElement {
  const { count, first, leftOut } = frozen;
  const others = count - first.length;
  return (
    <>
      <ul aria-label="Hosts" className="first-hosts">
        {first.map(({ id, display_name }) => (
          <li key={id}>{display_name}</li>
        ))}
        {others > 0 && <li className="quiet">and {counted(others, "other host")}</li>}
      </ul>
      {leftOut > 0 && (
        <p className="message note">
          {formatted(leftOut)} of the selected hosts are left out: your roles do not allow this on them.
        </p>
      )}
    </>
  );
}
