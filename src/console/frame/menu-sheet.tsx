import { type ReactElement, useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { Navigation } from "./navigation.tsx";

/** On narrow screens: opens the navigation at the side, where it takes no place from the page. */
export function MenuSheetButton(): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" className="plain narrow-only" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Menu
      </button>
      {isOpen && (
        <Dialog title="Menu" isSheet onClose={close}>
          <Navigation onFollow={close} />
        </Dialog>
      )}
    </>
  );
}
