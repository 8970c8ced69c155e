import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { HostEffect, type ProfileDialogProps } from "./host-effect.tsx";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

export function DeleteProfileDialog({ profile, onClose }: ProfileDialogProps): ReactElement {
  const outdate = useOutdateProfiles();
  const { profile_uuid, name } = profile;
  const remove = async () => {
    await client.call(profilesApi.delete, { params: { profile_uuid } });
    notifyDone(`${name} is deleted.`);
    await outdate();
    return true;
  };
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      verb="Delete"
      onConfirm={remove}
      onClose={(isDone) => onClose(isDone === true)}
    >
      <HostEffect profile={profile}>
        {(hosts) => <>It is removed from {hosts}, which lose its settings when they next connect.</>}
      </HostEffect>
      <p>The file cannot be restored from the server. The profile&apos;s page has it for download.</p>
    </ConfirmDialog>
  );
}
