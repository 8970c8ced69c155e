import type { ReactElement } from "react";
import { TextAreaField } from "../../../parts/form/form.tsx";
import type { Form, FormValues } from "../../../parts/form/use-form.ts";

interface ConfigurationFieldProps<V extends FormValues & { readonly configuration: string }> {
  readonly form: Form<V>;
  readonly platform: string;
}

/** The settings that devices get with an app. Apps for Macs have none. */
export function ConfigurationField<V extends FormValues & { readonly configuration: string }>({
  form,
  platform,
}: ConfigurationFieldProps<V>): ReactElement | null {
  if (platform === "darwin") return null;
  const format = platform === "android" ? "A JSON object" : "A property list";
  return (
    <TextAreaField
      form={form}
      name="configuration"
      label="Configuration"
      rows={6}
      hint={`${format} with the settings that devices get with the app. Empty: none.`}
    />
  );
}
