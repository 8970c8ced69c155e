import { useCallback } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { useOutdate } from "../../../api.ts";

/** Has everything about profiles read again, after a change. */
export function useOutdateProfiles(): () => Promise<void> {
  const outdate = useOutdate();
  return useCallback(
    () => outdate(profilesApi.list, profilesApi.get, profilesApi.status, profilesApi.hosts, profilesApi.summary),
    [outdate],
  );
}
