import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { FileField, Form } from "../../../parts/form/form.tsx";
import { uploadOf } from "../../../parts/form/upload.ts";
import { useForm } from "../../../parts/form/use-form.ts";
import { LabelScopeField } from "../../../parts/label-scope/label-scope-field.tsx";
import { allHosts, labelScopeBody } from "../../../parts/label-scope/scope.ts";
import { ofTeam } from "../../../parts/one-team.tsx";
import { isPremium } from "../../../session.ts";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

export const PROFILE_FILES = ".mobileconfig,.json,.xml";

interface AddProfileDialogProps {
  readonly teamId: number;
  readonly onClose: (isDone: boolean) => void;
}

/** Uploads a profile. The server says what is wrong with a file as soon as it is chosen. */
export function AddProfileDialog({ teamId, onClose }: AddProfileDialogProps): ReactElement {
  const outdate = useOutdateProfiles();
  const form = useForm({
    initial: { profile: null as File | null, ...allHosts },
    send: ({ profile, ...scope }, options) => {
      const file = profile === null ? {} : { profile: uploadOf(profile) };
      const body = { ...ofTeam(teamId), ...labelScopeBody(scope), ...file };
      return client.call(profilesApi.create, { body: body as typeof body & { profile: never } }, options);
    },
    onDone: (_, { profile }) => {
      notifyDone(`${profile?.name ?? "The profile"} is uploaded. Hosts get it when they next connect.`);
      void outdate();
      onClose(true);
    },
  });
  return (
    <Dialog title="Add profile" hasChanges={form.isChanged} onClose={() => onClose(false)}>
      <Form form={form} submit="Add profile" onCancel={() => onClose(false)}>
        <FileField
          form={form}
          name="profile"
          label="File"
          accept={PROFILE_FILES}
          hint=".mobileconfig or a declaration in .json for Apple devices, SyncML in .xml for Windows, .json for Android."
        />
        {isPremium() && <LabelScopeField form={form} mode="excepting" />}
      </Form>
    </Dialog>
  );
}
