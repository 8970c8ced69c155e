import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { labelScopeBody, labelScopeOf } from "../../../parts/label-scope/scope.ts";
import type { ProfileDialogProps } from "./host-effect.tsx";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

/** Changes which hosts get the profile. */
export function ProfileLabelsDialog({ profile, onClose }: ProfileDialogProps): ReactElement {
  const outdate = useOutdateProfiles();
  const { profile_uuid, name } = profile;
  const form = useForm({
    initial: { ...labelScopeOf(profile) },
    send: (values, options) =>
      client.call(profilesApi.update, { params: { profile_uuid }, body: labelScopeBody(values) }, options),
    onDone: () => {
      notifyDone(`The labels of ${name} are saved.`);
      void outdate();
      onClose(true);
    },
  });
  return (
    <Dialog title={`Labels of ${name}`} hasChanges={form.isChanged} onClose={() => onClose(false)}>
      <Form form={form} submit="Save" onCancel={() => onClose(false)}>
        <LabelScopeField form={form} mode="excepting" />
        <p className="hint">Hosts that no longer match remove the profile; those that match now get it.</p>
      </Form>
    </Dialog>
  );
}
