import { lazy, type ReactElement, Suspense } from "react";
import type { OpenDialog } from "./selection-dialogs.tsx";

export type { OpenDialog };

const Dialogs = lazy(() => import("./selection-dialogs.tsx"));

/** The dialog of what is done with selected hosts. Its script is loaded when the first one opens. */
export const SelectionDialog = (props: OpenDialog & { readonly onClose: () => void }): ReactElement => (
  <Suspense fallback={null}>
    <Dialogs {...props} />
  </Suspense>
);
