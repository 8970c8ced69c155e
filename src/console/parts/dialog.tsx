import { type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from "react";

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Null: it cannot be closed without an answer. */
  readonly onClose: (() => void) | null;
  /** For what changes or deletes: screen readers announce its text at once. */
  readonly isAlert?: boolean;
  readonly isWide?: boolean;
  /** At the side of the screen, as high as it is. */
  readonly isSheet?: boolean;
  /** Whether something was typed that closing would lose: the dialog then asks first. */
  readonly hasChanges?: boolean;
}

const FIELD = ":is(input, textarea, select):enabled";

/** A modal dialog: the browser's own, which keeps the focus inside and returns it afterwards. */
export function Dialog(props: DialogProps): ReactElement {
  const { title, children, onClose, isAlert = false, isWide = false, isSheet = false, hasChanges = false } = props;
  const [isAsking, setAsking] = useState(false);
  const close = () => (hasChanges && !isAsking ? setAsking(true) : onClose?.());
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    // The browser focuses the first button, which closes the dialog; users come to type.
    const field = element?.querySelector<HTMLElement>("[data-focus]") ?? element?.querySelector<HTMLElement>(FIELD);
    field?.focus();
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
      className={isSheet ? "sheet" : isWide ? "wide" : undefined}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose !== null && (
          <button type="button" className="plain small" aria-label="Close" onClick={close}>
            ×
          </button>
        )}
      </div>
      {isAsking && hasChanges && (
        <div role="alert" className="message note">
          <p>Closing discards what you have typed.</p>
          <span className="buttons">
            <button type="button" className="danger small" onClick={() => onClose?.()}>
              Discard
            </button>
            <button type="button" className="plain small" onClick={() => setAsking(false)}>
              Keep editing
            </button>
          </span>
        </div>
      )}
      {children}
    </dialog>
  );
}

interface ShowButtonProps {
  /** What it shows, and of which row: the buttons of a list are all called "Show" on the screen. */
  readonly label: string;
  /** The dialog. */
  readonly children: (close: () => void) => ReactElement;
}

/** A button in a row that opens a dialog. */
export function ShowButton({ label, children }: ShowButtonProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="plain small"
        aria-label={label}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        Show
      </button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}
