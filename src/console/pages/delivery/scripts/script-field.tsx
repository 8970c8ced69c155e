import { type ReactElement, type ReactNode, useId, useState } from "react";
import type { UploadSource } from "../../../../api/bodies.ts";
import { TextAreaField } from "../../../parts/form/form.tsx";
import { uploadOf } from "../../../parts/form/upload.ts";
import type { Form } from "../../../parts/form/use-form.ts";

interface ScriptValues {
  readonly [name: string]: unknown;
  readonly script: string;
}

interface ScriptFieldProps<V extends ScriptValues> {
  readonly form: Form<V>;
  /** A file was read; with its name. */
  readonly onFile?: (name: string) => void;
  /** Fields between the file and the text. */
  readonly children?: ReactNode;
}

const ROWS = 14;

/** The text of a script, and a file that replaces it. The form's value `script` is the text. */
export function ScriptField<V extends ScriptValues>({ form, onFile, children }: ScriptFieldProps<V>): ReactElement {
  const id = useId();
  const [problem, setProblem] = useState("");
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      form.set("script", text.replaceAll("\r\n", "\n") as V["script"]);
      onFile?.(file.name);
      setProblem("");
    } catch {
      setProblem(`${file.name} is not a text in UTF-8.`);
    }
  };
  return (
    <>
      <div className="field">
        <label htmlFor={id}>File</label>
        <input
          id={id}
          type="file"
          accept=".sh,.py,.ps1"
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => void read(target.files?.[0])}
        />
        <p id={`${id}-hint`} className="hint">
          Its text replaces what is typed below.
        </p>
        {problem !== "" && (
          <p className="wrong" role="alert">
            {problem}
          </p>
        )}
      </div>
      {children}
      <TextAreaField form={form} name="script" label="Script" rows={ROWS} />
    </>
  );
}

/** The text as the file that the API takes. */
export const fileOf = (name: string, text: string): UploadSource =>
  uploadOf(new File([text], name, { type: "text/plain" }));
