import type { ReactElement } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { FileField, Form } from "../../parts/form/form.tsx";
import { useForm } from "../../parts/form/use-form.ts";

interface TokenFileDialogProps {
  readonly title: string;
  readonly submit: string;
  /** The end of the file's name: ".p7m". */
  readonly accept: string;
  readonly hint: string;
  readonly send: (body: { readonly token: File }, options: { readonly dryRun?: boolean }) => Promise<unknown>;
  readonly onSent: () => Promise<void>;
  readonly onClose: () => void;
}

interface TokenValues extends Record<string, unknown> {
  readonly token: File | null;
}

const nothing: TokenValues = { token: null };

/** Sends the file of a token, as a portal has given it. */
export function TokenFileDialog(props: TokenFileDialogProps): ReactElement {
  const { title, submit, accept, hint, send, onSent, onClose } = props;
  const form = useForm({
    initial: nothing,
    hasDryRun: false,
    send: ({ token }, options) => send({ token } as { token: File }, options),
    onDone: async () => {
      await onSent();
      onClose();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} submit={submit} onCancel={onClose}>
        <FileField form={form} name="token" label="Token" accept={accept} hint={hint} />
      </Form>
    </Dialog>
  );
}
