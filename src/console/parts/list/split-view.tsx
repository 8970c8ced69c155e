import { type ReactElement, type ReactNode, useCallback } from "react";
import { useShortcut } from "../../frame/shortcuts.ts";
import { useUrl } from "../../url.ts";

interface SplitViewProps {
  /** The keys of the rows that are shown, in their order. */
  readonly keys: readonly string[];
  /** What is shown of the row with this key. */
  readonly details: (key: string) => ReactNode;
  readonly children: ReactNode;
}

/** The key of the row whose details are open beside the list. It is in the URL. */
export const usePanel = (): string | null => useUrl().get("panel");

/** A list with the details of one of its rows beside it. */
export function SplitView({ keys, details, children }: SplitViewProps): ReactElement {
  const url = useUrl();
  const panel = url.get("panel");
  const { set } = url;
  const show = useCallback((key: string | null | undefined) => set({ panel: key }, { replace: true }), [set]);
  // The list stays the same element, so that it keeps its place when details are opened and closed.
  if (panel === null)
    return (
      <div>
        <div>{children}</div>
      </div>
    );
  const at = keys.indexOf(panel);
  const previous = at > 0 ? keys[at - 1] : undefined;
  const next = keys[at + 1];
  return (
    <div className="split">
      <div className="split-list">{children}</div>
      <section aria-label="Details" className="card split-details">
        <div className="split-buttons">
          <button
            type="button"
            className="plain small"
            disabled={previous === undefined}
            onClick={() => show(previous)}
          >
            Previous
          </button>
          <button type="button" className="plain small" disabled={next === undefined} onClick={() => show(next)}>
            Next
          </button>
          <button type="button" className="plain small" onClick={() => show(null)}>
            Close
          </button>
        </div>
        {details(panel)}
      </section>
      <PanelKeys previous={previous} next={next} show={show} />
    </div>
  );
}

interface PanelKeysProps {
  readonly previous: string | undefined;
  readonly next: string | undefined;
  readonly show: (key: string | null | undefined) => void;
}

function PanelKeys({ previous, next, show }: PanelKeysProps): null {
  const goBack = useCallback(() => show(previous), [show, previous]);
  const goOn = useCallback(() => show(next), [show, next]);
  const close = useCallback(() => show(null), [show]);
  useShortcut("[", "Details of the row before", goBack, previous !== undefined);
  useShortcut("]", "Details of the next row", goOn, next !== undefined);
  useShortcut("Escape", "Close the details", close);
  return null;
}
