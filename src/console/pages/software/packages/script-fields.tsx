import { type ReactElement, useState } from "react";
import { TextAreaField } from "../../../parts/form/form.tsx";
import type { Form, FormValues } from "../../../parts/form/use-form.ts";
import { isMobileApp, isScriptFile, needsScripts } from "./package-kinds.ts";

export interface ScriptValues {
  readonly install_script: string;
  readonly uninstall_script: string;
  readonly post_install_script: string;
  readonly pre_install_query: string;
  readonly configuration: string;
}

export const noScripts: ScriptValues = {
  install_script: "",
  uninstall_script: "",
  post_install_script: "",
  pre_install_query: "",
  configuration: "",
};

interface ScriptFieldsProps<V extends FormValues & ScriptValues> {
  readonly form: Form<V>;
  /** The name of the package's file, which decides what it can have. */
  readonly file: string;
  /** What stands for an empty script; undefined: nothing does. */
  readonly usual?: string;
}

/** The scripts of a package and its query, or the settings of an app for iPhones and iPads. */
export function ScriptFields<V extends FormValues & ScriptValues>({
  form,
  file,
  usual,
}: ScriptFieldsProps<V>): ReactElement {
  const [isOpen, setOpen] = useState<boolean | null>(null);
  if (isMobileApp(file))
    return (
      <TextAreaField
        form={form}
        name="configuration"
        label="Configuration"
        rows={6}
        hint="A property list with the settings that devices get with the app. Empty: none."
      />
    );
  const isNeeded = needsScripts(file);
  const hasError = (Object.keys(noScripts) as (keyof ScriptValues)[]).some((name) => form.errorOf(name) !== null);
  const hint = isNeeded ? "Files of this type need one." : usual;
  const withHint = hint === undefined ? {} : { hint };
  return (
    <details
      className="scripts"
      open={hasError || (isOpen ?? isNeeded)}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Scripts and query</summary>
      {!isScriptFile(file) && (
        <TextAreaField form={form} name="install_script" label="Install script" rows={6} {...withHint} />
      )}
      <TextAreaField
        form={form}
        name="post_install_script"
        label="Post-install script"
        rows={4}
        hint="Runs after the installation. If it fails, what was installed is removed."
      />
      <TextAreaField form={form} name="uninstall_script" label="Uninstall script" rows={6} {...withHint} />
      <TextAreaField
        form={form}
        name="pre_install_query"
        label="Pre-install query"
        rows={2}
        hint="Hosts install the package only if this SQL returns a row. Empty: always."
      />
    </details>
  );
}
