import { type ReactElement, useCallback, useState } from "react";
import { lazyPart } from "../loading/lazy-part.tsx";
import type { ViewsDialogProps } from "./views-dialog.tsx";

const ViewsDialog = lazyPart(() => import("./views-dialog.tsx"));

/** The button above a list that opens and saves views of it. */
export function ViewsButton(props: Omit<ViewsDialogProps, "onClose">): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Views
      </button>
      {isOpen && <ViewsDialog {...props} onClose={close} onFailed={close} />}
    </>
  );
}
