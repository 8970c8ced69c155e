import type { ReactElement } from "react";
import { FileField, Form } from "./form.tsx";
import { useForm } from "./use-form.ts";

interface FileFormProps {
  readonly label: string;
  /** The name of the file in the request, by which the server names it in errors. */
  readonly name: string;
  readonly accept?: string;
  /** What is on the button. */
  readonly submit: string;
  readonly send: (file: File, options: { readonly dryRun?: boolean }) => Promise<unknown>;
  readonly onDone: () => void;
}

/** A form that sends one file. */
export function FileForm({ label, name, accept, submit, send, onDone }: FileFormProps): ReactElement {
  const form = useForm<Readonly<Record<string, File | null>>, unknown>({
    initial: { [name]: null },
    hasDryRun: false,
    send: (values, options) => {
      const file = values[name];
      if (!file) throw new Error("Choose a file first");
      return send(file, options);
    },
    onDone,
  });
  return (
    <Form form={form} submit={submit}>
      <FileField form={form} name={name} label={label} {...(accept === undefined ? {} : { accept })} />
    </Form>
  );
}
