import { useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { client, useReadText } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { TextDiff } from "../../../parts/diff/text-diff.tsx";
import { FileField, Form } from "../../../parts/form/form.tsx";
import { uploadOf } from "../../../parts/form/upload.ts";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { PROFILE_FILES } from "./add-profile-dialog.tsx";
import { HostEffect, type ProfileDialogProps } from "./host-effect.tsx";
import { isText } from "./is-text.ts";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

/** Replaces the content of a profile, after showing what changes in it. */
export function ReplaceProfileDialog({ profile, onClose }: ProfileDialogProps): ReactElement {
  const outdate = useOutdateProfiles();
  const { profile_uuid, name } = profile;
  const form = useForm({
    initial: { profile: null as File | null },
    send: ({ profile: file }, options) => {
      const body = file === null ? {} : { profile: uploadOf(file) };
      return client.call(profilesApi.update, { params: { profile_uuid }, body }, options);
    },
    onDone: () => {
      notifyDone(`${name} is replaced. Hosts get it when they next connect.`);
      void outdate();
      onClose(true);
    },
  });
  const file = form.values.profile;
  return (
    <Dialog title={`Replace ${name}`} isWide hasChanges={form.isChanged} onClose={() => onClose(false)}>
      <Form form={form} submit="Replace" onCancel={() => onClose(false)}>
        <FileField
          form={form}
          name="profile"
          label="File"
          accept={PROFILE_FILES}
          hint="A file of the same format, for Apple devices with the same identifier."
        />
        {file !== null && <Difference profile_uuid={profile_uuid} file={file} />}
        {file !== null && (
          <HostEffect profile={profile}>{(hosts) => <>If it differs, it is sent to {hosts} again.</>}</HostEffect>
        )}
      </Form>
    </Dialog>
  );
}

function Difference({ profile_uuid, file }: { readonly profile_uuid: string; readonly file: File }): ReactElement {
  const before = useReadText(profilesApi.get, { params: { profile_uuid }, query: { alt: "media" } });
  const after = useQuery({
    queryKey: ["file", profile_uuid, file.name, file.size, file.lastModified],
    queryFn: () => file.text(),
  });
  return (
    <Read from={before} what="content">
      {(old) => (
        <Read from={after} what="file">
          {(text) =>
            isText(old) && isText(text) ? (
              <TextDiff before={old} after={text} />
            ) : (
              <p className="quiet">The file is signed or not a text, so its lines cannot be compared.</p>
            )
          }
        </Read>
      )}
    </Read>
  );
}
