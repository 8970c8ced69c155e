import type { ReactElement, ReactNode } from "react";
import { type ConfigurationProfile, profilesApi, type StatusCounts } from "../../../../api/devices/profiles.ts";
import { useRead } from "../../../api.ts";
import { counted } from "../../../parts/counted.ts";
import { Read } from "../../../parts/loading/read.tsx";

export interface ProfileDialogProps {
  readonly profile: ConfigurationProfile;
  readonly onClose: (isDone: boolean) => void;
}

interface HostEffectProps {
  readonly profile: ConfigurationProfile;
  /** Which of its hosts are affected; default: all. */
  readonly status?: keyof StatusCounts;
  /** What happens to so many hosts: "12 hosts". */
  readonly children: (hosts: string) => ReactNode;
}

/** How many hosts a change of the profile affects, counted now. */
export function HostEffect({ profile, status, children }: HostEffectProps): ReactElement {
  const reply = useRead(profilesApi.status, { params: { profile_uuid: profile.profile_uuid } });
  return (
    <Read from={reply} what="number of hosts">
      {(counts) => {
        const all = counts.verified + counts.verifying + counts.pending + counts.failed;
        return <p>{children(counted(status === undefined ? all : counts[status], "host"))}</p>;
      }}
    </Read>
  );
}
