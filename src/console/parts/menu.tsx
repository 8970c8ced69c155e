import { lazy, type ReactElement, Suspense, useEffect, useState } from "react";

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
const AriaMenu = lazy(load);

/** A button that opens a menu. Its script is loaded when the page is idle, or when the button is first pressed. */
export function MenuButton(props: MenuProps): ReactElement {
  const [isWanted, setWanted] = useState(false);
  const [isReady, setReady] = useState(false);
  useEffect(() => whenIdle(() => void load().then(() => setReady(true))), []);
  const button = (
    <button type="button" className={props.className ?? "plain"} aria-haspopup="menu" onClick={() => setWanted(true)}>
      {props.label}
    </button>
  );
  if (!isReady && !isWanted) return button;
  return (
    <Suspense fallback={button}>
      <AriaMenu {...props} isOpenAtFirst={isWanted} />
    </Suspense>
  );
}

function whenIdle(run: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(run, 1_000);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(run, { timeout: 3_000 });
  return () => cancelIdleCallback(id);
}
