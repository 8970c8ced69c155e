import type { ReactElement } from "react";
import { CheckField } from "../../../parts/form/form.tsx";
import type { Form, FormValues } from "../../../parts/form/use-form.ts";

interface PatchValues {
  readonly patch: boolean;
  readonly patch_when_closed: boolean;
  readonly notify_before_patching: boolean;
}

/** The policy that keeps an app of the catalogue up to date. */
export function PatchFields<V extends FormValues & PatchValues>({ form }: { readonly form: Form<V> }): ReactElement {
  return (
    <>
      <CheckField
        form={form}
        name="patch"
        label="Update automatically"
        hint="A policy installs the app on hosts with an older version."
      />
      {form.values.patch && (
        <>
          <CheckField form={form} name="patch_when_closed" label="Only while the app is closed" />
          <CheckField form={form} name="notify_before_patching" label="Notify users five minutes before" />
        </>
      )}
    </>
  );
}
