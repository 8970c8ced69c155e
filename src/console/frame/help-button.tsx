import { type ReactElement, useCallback, useState } from "react";
import { lazyPart } from "../parts/loading/lazy-part.tsx";
import { useRouteName } from "./route.ts";

const HelpDialog = lazyPart(() => import("./help-dialog.tsx"));

/** The button that says what the page is about, and where the same is outside of the console. */
export function HelpButton(): ReactElement | null {
  const route = useRouteName();
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  if (route === null) return null;
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Help
      </button>
      {isOpen && <HelpDialog route={route} onClose={close} onFailed={close} />}
    </>
  );
}
