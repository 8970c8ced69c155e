import { type ReactElement, type ReactNode, useEffect, useId, useRef } from "react";

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Null: it cannot be closed without an answer. */
  readonly onClose: (() => void) | null;
  /** For what changes or deletes: screen readers announce its text at once. */
  readonly isAlert?: boolean;
  readonly isWide?: boolean;
}

/** A modal dialog: the browser's own, which keeps the focus inside and returns it afterwards. */
export function Dialog({ title, children, onClose, isAlert = false, isWide = false }: DialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      role={isAlert ? "alertdialog" : undefined}
      aria-labelledby={id}
      className={isWide ? "wide" : undefined}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose !== null && (
          <button type="button" className="plain small" aria-label="Close" onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}
