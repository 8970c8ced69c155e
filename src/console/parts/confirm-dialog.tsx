import { type ReactElement, type ReactNode, useId, useRef, useState } from "react";
import { request } from "../api.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorMessage } from "./error-message.tsx";

interface ConfirmDialogProps {
  /** Action and object: "Wipe ada-mac", "Delete 12 hosts". */
  readonly title: string;
  /** The verb on the button. */
  readonly verb: string;
  /** What happens, and what cannot be undone. */
  readonly children: ReactNode;
  /** A name or number to type, for what cannot be undone. */
  readonly typed?: string;
  /** Whether the user gives a reason, which is recorded. */
  readonly hasReason?: boolean;
  readonly isDangerous?: boolean;
  /** The button that does nothing; default: Cancel. */
  readonly dismiss?: string;
  /** Whether everything is there that it needs, besides what is typed here; default: yes. */
  readonly isReady?: boolean;
  /** Why it cannot be done now. */
  readonly blocked?: string | undefined;
  readonly onConfirm: (reason: string) => Promise<unknown>;
  /** With what was returned when it was confirmed; without it if it was cancelled. */
  readonly onClose: (result?: unknown) => void;
}

/** As browsers show a text: spaces in a row are one, those around it none. Nobody can type what is not shown. */
const asShown = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Asks before something is done. Errors of the server stay in the dialog, with what was typed. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactElement {
  const { title, verb, children, typed, hasReason = false, isDangerous = true, blocked, onConfirm, onClose } = props;
  const id = useId();
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const sending = useRef(false);
  const isReady =
    blocked === undefined && (props.isReady ?? true) && (typed === undefined || asShown(text) === asShown(typed));
  const confirm = async () => {
    if (!isReady || sending.current) return;
    sending.current = true;
    setSending(true);
    try {
      onClose(await request(() => onConfirm(reason.trim())));
    } catch (thrown) {
      sending.current = false;
      setError(thrown);
      setSending(false);
    }
  };
  return (
    <Dialog title={title} isAlert onClose={() => onClose()}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        {children}
        {blocked !== undefined && (
          <p id={`${id}-blocked`} className="message note">
            {blocked}
          </p>
        )}
        {error !== null && <ErrorMessage error={error} />}
        {typed !== undefined && (
          <div className="field">
            <label htmlFor={`${id}-typed`}>Type {typed} to confirm</label>
            <input
              id={`${id}-typed`}
              value={text}
              autoComplete="off"
              onChange={({ target }) => setText(target.value)}
            />
          </div>
        )}
        {hasReason && (
          <div className="field">
            <label htmlFor={`${id}-reason`}>Reason</label>
            <input
              id={`${id}-reason`}
              value={reason}
              maxLength={500}
              onChange={({ target }) => setReason(target.value)}
            />
          </div>
        )}
        <div className="dialog-buttons">
          <button type="button" className="plain" onClick={() => onClose()}>
            {props.dismiss ?? "Cancel"}
          </button>
          <button
            type="submit"
            className={isDangerous ? "danger" : undefined}
            disabled={!isReady || isSending}
            aria-describedby={blocked === undefined ? undefined : `${id}-blocked`}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
