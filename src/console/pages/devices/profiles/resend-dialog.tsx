import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { HostEffect, type ProfileDialogProps } from "./host-effect.tsx";
import { useOutdateProfiles } from "./use-outdate-profiles.ts";

/** Sends the profile again to all hosts on which it has failed. */
export function ResendDialog({ profile, onClose }: ProfileDialogProps): ReactElement {
  const outdate = useOutdateProfiles();
  const { profile_uuid, name } = profile;
  const resend = async () => {
    const body = { profile_uuid, filters: { profile_status: "failed" as const } };
    await client.call(profilesApi.resendBatch, { body });
    notifyDone(`${name} will be sent again to the hosts on which it had failed.`);
    await outdate();
    return true;
  };
  return (
    <ConfirmDialog
      title={`Resend ${name}`}
      verb="Resend"
      isDangerous={false}
      onConfirm={resend}
      onClose={(isDone) => onClose(isDone === true)}
    >
      <HostEffect profile={profile} status="failed">
        {(hosts) => <>It has failed on {hosts}, and is sent to all of them again.</>}
      </HostEffect>
    </ConfirmDialog>
  );
}
