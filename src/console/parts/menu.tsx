import { type ReactElement, useCallback, useEffect, useState } from "react";
import { lazyPart } from "./loading/lazy-part.tsx";

export interface MenuItem {
  readonly name: string;
  readonly onSelect: () => void;
  /** Why it cannot be chosen now; shown with the name. */
  readonly disabled?: string | undefined;
  /** For items of which one or several are on. */
  readonly isChecked?: boolean;
  readonly isDangerous?: boolean;
}

export interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly className?: string | undefined;
}

const load = () => import("./aria-menu.tsx");
const AriaMenu = lazyPart(load);

/** A button that opens a menu. Its script is loaded when the page is idle, or when the button is first pressed. */
export function MenuButton(props: MenuProps): ReactElement {
  const [isWanted, setWanted] = useState(false);
  const [isReady, setReady] = useState(false);
  useEffect(
    () =>
      whenIdle(() =>
        load().then(
          () => setReady(true),
          // The button tries again when it is pressed.
          () => undefined,
        ),
      ),
    [],
  );
  const giveUp = useCallback(() => setWanted(false), []);
  const button = (
    <button type="button" className={props.className ?? "plain"} aria-haspopup="menu" onClick={() => setWanted(true)}>
      {props.label}
    </button>
  );
  if (!isReady && !isWanted) return button;
  return <AriaMenu {...props} isOpenAtFirst={isWanted} fallback={button} onFailed={giveUp} />;
}

function whenIdle(run: () => unknown): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(run, 1_000);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(run, { timeout: 3_000 });
  return () => cancelIdleCallback(id);
}
